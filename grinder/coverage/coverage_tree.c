#include "grinder/coverage/coverage_tree.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/coverage/coverage.h"
#include "support/memory.h"

#define ROOT 1

static bool has_counts(const struct tree *tree, const struct images *images)
{
    for (size_t i = 1; i < tree->module_count; i++)
        if (tree->modules[i].image && images->images[tree->modules[i].image].manifest.ways)
            return true;
    return false;
}

/* Of the tree: that which an image of the coverage's is; 0 if there is none. */
static uint32_t module_of(const struct tree *tree, const struct images *images,
                          const struct image *image)
{
    for (uint32_t i = 1; i < tree->module_count; i++)
        if (tree->modules[i].image &&
            images_are_same(&images->images[tree->modules[i].image], image))
            return i;
    return 0;
}

/* index: of the function in its image's manifest */
static void add_function(struct tree *tree, struct images *images, uint32_t module, uint32_t index,
                         const struct covered_function *covered)
{
    struct tree_thread *thread = tree->threads;
    struct context *root = &tree->contexts[ROOT];

    tree->contexts[tree->context_count] = (struct context){
        .calls = covered->calls,
        .exits = covered->calls,
        .instructions = covered->instructions,
        .parent = ROOT,
        .sibling = root->first_child,
        .function = images_function(images, tree->modules[module].image, index),
        .module = module,
    };
    root->first_child = (uint32_t)tree->context_count++;
    thread->entries += covered->calls;
    thread->exits += covered->calls;
}

static void add_functions(struct tree *tree, struct images *images, const struct coverage *coverage)
{
    uint32_t image = 0, module = 0;

    for (size_t i = 0; i < coverage->function_count; i++) {
        const struct covered_function *covered = &coverage->functions[i];
        const struct function *function = &coverage->images.functions[covered->function];

        if (function->image != image) {
            image = function->image;
            module = module_of(tree, images, &coverage->images.images[image]);
        }
        if (module && covered->ran)
            add_function(tree, images, module, function->index, covered);
    }
}

/* Room for the root and so many functions. */
static void begin(struct tree *tree, size_t functions)
{
    struct context *contexts = memory_zeroed(functions + ROOT + 1, sizeof(*contexts));

    memcpy(contexts, tree->contexts, ROOT * sizeof(*contexts));
    free(tree->contexts);
    tree->contexts = contexts;
    tree->context_count = ROOT + 1;
    tree->threads = memory_zeroed(1, sizeof(*tree->threads));
    tree->thread_count = 1;
    tree->threads->root = ROOT;
    tree->threads->record = (struct trace_thread){
        .tid = tree->header.pid,
        .ordinal = 1,
        .state = TRACE_THREAD_ENDED,
        .name = "all threads",
        .start_ticks = tree->header.start_ticks,
        .end_ticks = tree->header.end_ticks,
    };
    tree->counts_instructions = true;
    tree->header.timing = TRACE_TIMING_NONE;
}

void coverage_fill_tree(struct tree *tree, struct images *images)
{
    struct coverage coverage;
    struct failure failure;

    if (tree->thread_count || !has_counts(tree, images))
        return;
    coverage_begin(&coverage);
    coverage.images_are_known = true;
    coverage.images.path_maps = images->path_maps;
    if (!coverage_add(&coverage, tree->path, &failure)) {
        message_failure(&failure);
    } else {
        coverage_count(&coverage);
        begin(tree, coverage.function_count);
        add_functions(tree, images, &coverage);
        tree->threads->contexts = tree->context_count - ROOT;
        tree->threads->record.nodes = (uint32_t)tree->threads->contexts;
        tree->committed = tree->threads->contexts;
    }
    coverage_free(&coverage);
}
