#include "grinder/profile/unhooked.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/profile/traces.h"
#include "support/bounded_file.h"
#include "trace/unhooked_format.h"

/* The records, to be freed; null after a message, or without one if there is no such file. */
static struct unhooked *read_file(const char *path, const struct tree *tree,
                                  struct unhooked_header *header)
{
    struct bounded_file file;
    struct unhooked *records = NULL;
    struct failure failure;

    if (!bounded_file_open(&file, path, &failure))
        return NULL;
    if (bounded_file_read(&file, header, sizeof(*header), 0) == 0 &&
        !memcmp(header->magic, UNHOOKED_MAGIC, sizeof(header->magic)) &&
        header->version == UNHOOKED_VERSION && header->created_ns == tree->header.created_ns &&
        header->pid == tree->header.pid)
        records =
            bounded_file_copy(&file, sizeof(*header), (uint64_t)header->count * sizeof(*records));
    bounded_file_close(&file);
    if (!records)
        message(
            "%s: expected the functions of %s that were not hooked all the time, found something "
            "else or a damaged file; leaving it out: some calls may be more than is shown",
            path, tree->path);
    return records;
}

/* As images.h numbers it; 0: it was not recorded. */
static uint32_t number_of(const struct tree *tree, const struct images *images, uint32_t function)
{
    for (size_t i = 1; i < tree->module_count; i++) {
        const struct tree_module *module = &tree->modules[i];

        if (module->image && function - module->first_function < module->function_count)
            return images_recorded(images, module->image, function - module->first_function);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct unhooked *one = a, *other = b;

    return one->function < other->function ? -1 : one->function > other->function;
}

void unhooked_read(struct tree *tree, struct images *images)
{
    char *path = trace_beside(tree->path, UNHOOKED_SUFFIX);
    struct unhooked_header header;
    struct unhooked *records = read_file(path, tree, &header);

    if (records)
        tree->unhooked =
            (struct unhooked_facts){.times = header.count, .percent = header.percent_256 / 256.0};
    if (records)
        qsort(records, header.count, sizeof(*records), compare);
    for (uint32_t i = 0; records && i < header.count; i++) {
        uint32_t number = number_of(tree, images, records[i].function);

        tree->unhooked.functions += !i || records[i].function != records[i - 1].function;
        tree->unhooked.by_user |= records[i].by_user;
        if (number)
            images->functions[number].has_more_calls = true;
    }
    free(records);
    free(path);
}
