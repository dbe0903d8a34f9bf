#include "grinder/profile/unhooked.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/profile/traces.h"
#include "trace/unhooked_format.h"

/* The records, to be freed; null: it is no such list of that trace. */
static struct unhooked *read_file(const struct bounded_file *file, const struct tree *tree,
                                  struct unhooked_header *header)
{
    if (bounded_file_read(file, header, sizeof(*header), 0) < 0 ||
        memcmp(header->magic, UNHOOKED_MAGIC, sizeof(header->magic)) != 0 ||
        header->version != UNHOOKED_VERSION || header->created_ns != tree->header.created_ns ||
        header->pid != tree->header.pid)
        return NULL;
    return bounded_file_copy(file, sizeof(*header),
                             (uint64_t)header->count * sizeof(struct unhooked));
}

/* As images.h numbers it; 0: it was not recorded. */
static uint32_t number_of(const struct tree *tree, const struct images *images, uint32_t function)
{
    const struct tree_module *module = &tree->modules[tree_module_of(tree, function)];

    return module->image ? images_recorded(images, module->image, function - module->first_function)
                         : 0;
}

static int compare(const void *a, const void *b)
{
    const struct unhooked *one = a, *other = b;

    return one->function < other->function ? -1 : one->function > other->function;
}

bool unhooked_take(struct tree *tree, struct images *images, const struct bounded_file *file)
{
    struct unhooked_header header;
    struct unhooked *records = read_file(file, tree, &header);

    if (!records)
        return false;
    tree->unhooked =
        (struct unhooked_facts){.times = header.count, .percent = header.percent_256 / 256.0};
    qsort(records, header.count, sizeof(*records), compare);
    for (uint32_t i = 0; i < header.count; i++) {
        uint32_t number = number_of(tree, images, records[i].function);

        tree->unhooked.functions += !i || records[i].function != records[i - 1].function;
        tree->unhooked.by_user |= records[i].by_user;
        if (number)
            images->functions[number].has_more_calls = true;
    }
    free(records);
    return true;
}

void unhooked_read(struct tree *tree, struct images *images)
{
    char *path = trace_beside(tree->path, UNHOOKED_SUFFIX);
    struct bounded_file file;
    struct failure failure;

    if (bounded_file_open(&file, path, &failure)) {
        if (!unhooked_take(tree, images, &file))
            message("%s: expected the functions of %s that were not hooked all the time, found "
                    "something else or a damaged file; leaving it out: some calls may be more than "
                    "is shown",
                    path, tree->path);
        bounded_file_close(&file);
    }
    free(path);
}
