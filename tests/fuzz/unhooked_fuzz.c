/* The grinder's reading of which functions were not hooked all the time. */
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/unhooked.h"
#include "tests/fuzz/harness.h"
#include "trace/unhooked_format.h"

/* As tests/fuzz.sh writes them into a seed. */
#define CREATED_NS 2
#define PID        7

#define FUNCTIONS 4 /* of each module, with numbers from 1 on in the trace */

/* What was recorded: all functions but the last of each module. */
static void begin(struct tree *tree, struct images *images, struct tree_module modules[3])
{
    *tree = (struct tree){.path = "fuzzed",
                          .header = {.created_ns = CREATED_NS, .pid = PID},
                          .modules = modules,
                          .module_count = 3};
    images_begin(images);
    for (uint32_t i = 1; i < tree->module_count; i++) {
        modules[i] = (struct tree_module){.first_function = 1 + (i - 1) * FUNCTIONS,
                                          .function_count = FUNCTIONS,
                                          .image = images_add_listed(images, "module")};
        for (uint32_t j = 0; j + 1 < FUNCTIONS; j++)
            images_function(images, modules[i].image, j);
    }
}

static size_t count_marked(const struct images *images)
{
    size_t count = 0;

    for (size_t i = 0; i < images_function_count(images); i++)
        count += images->functions[i].has_more_calls;
    return count;
}

/* Every function that is marked is told of; nothing is, if the file is refused. */
static void check(const struct tree *tree, const struct images *images, bool is_taken, size_t size)
{
    static const struct unhooked_facts none;
    const struct unhooked_facts *facts = &tree->unhooked;
    size_t marked = count_marked(images);

    if (!is_taken && (memcmp(facts, &none, sizeof(none)) != 0 || marked))
        abort();
    if (facts->functions > facts->times || marked > facts->functions ||
        facts->times > size / sizeof(struct unhooked))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bounded_file file = bounded_file_of(data, size);
    struct tree_module modules[3] = {{0}};
    struct images images;
    struct tree tree;

    begin(&tree, &images, modules);
    check(&tree, &images, unhooked_take(&tree, &images, &file), size);
    images_free(&images);
    return 0;
}
