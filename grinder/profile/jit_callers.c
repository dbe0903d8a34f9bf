#include "grinder/profile/jit_callers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "grinder/profile/jit_maps.h"
#include "grinder/symbols/jit_map.h"
#include "support/memory.h"

struct adding {
    struct tree *tree;
    struct images *images;
    uint32_t *maps; /* images */
    size_t map_count;
    struct pair_index callers; /* (parent's slot, function), once for each context added */
    uint32_t first;            /* slot of the first of these */
    struct pair_index codes;   /* (image, rva), once for each module added */
    size_t context_room, module_room;
};

/* The latest map that has code there wins. */
static const struct jit_code *code_at(const struct adding *adding, uint64_t address,
                                      uint32_t *image)
{
    const struct jit_code *code = NULL;

    for (size_t i = 0; i < adding->map_count && !code; i++) {
        *image = adding->maps[i];
        code = jit_map_find(adding->images->images[*image].jit, address);
    }
    return code;
}

/* A piece of code is a module of its own: call sites within it are told from its beginning. */
static uint32_t module_of_code(struct adding *adding, uint32_t image, const struct jit_code *code)
{
    struct tree *tree = adding->tree;
    size_t before = adding->codes.count;
    uint32_t number = pair_index_add(&adding->codes, image, code->rva);

    if (number == before) {
        tree->modules = memory_grow(tree->modules, tree->module_count + number,
                                    &adding->module_room, sizeof(*tree->modules));
        tree->modules[tree->module_count + number] = (struct tree_module){
            .base = code->start, .size = code->size, .image = image, .rva = code->rva};
    }
    return (uint32_t)tree->module_count + number;
}

static uint32_t caller_of(struct adding *adding, uint32_t parent, uint32_t image,
                          const struct jit_code *code)
{
    struct tree *tree = adding->tree;
    uint32_t module = module_of_code(adding, image, code);
    size_t before = adding->callers.count;
    uint32_t slot =
        adding->first + pair_index_add(&adding->callers, (uint64_t)parent << 32 | image, code->rva);

    if (slot - adding->first < before)
        return slot;
    tree->contexts =
        memory_grow(tree->contexts, slot, &adding->context_room, sizeof(*tree->contexts));
    tree->contexts[slot] =
        (struct context){.site = CONTEXT_JIT,
                         .parent = parent,
                         .module = module,
                         .function = images_function(adding->images, image, code->function)};
    tree->context_count++;
    return slot;
}

static bool is_call(const struct context *context)
{
    return context->parent &&
           !(context->site & (TRACE_SITE_TAIL | TRACE_SITE_FOLDED | CONTEXT_ADDED));
}

/* Moves the children of a context that were called from such code below contexts for it. What was
   added takes the place of its first callee, so that children stay in the order of the file. */
static void look_below(struct adding *adding, uint32_t parent)
{
    struct tree *tree = adding->tree;
    uint32_t slot = tree->contexts[parent].first_child, last = 0, next;
    uint32_t *lasts = NULL; /* of each context added for this parent: its last child */
    size_t room = 0, first = adding->callers.count;

    tree->contexts[parent].first_child = 0;
    for (; slot; slot = next) {
        const struct context *context = &tree->contexts[slot];
        uint32_t image = 0, caller, *last_of = &last, above = parent;
        const struct jit_code *code =
            is_call(context) ? code_at(adding, (context->site & TRACE_SITE_ADDRESS) - 1, &image)
                             : NULL;
        next = context->sibling;
        tree->contexts[slot].sibling = 0;
        if (code) {
            size_t count = adding->callers.count;
            caller = caller_of(adding, parent, image, code);
            if (adding->callers.count > count) {
                lasts = memory_grow(lasts, count - first, &room, sizeof(*lasts));
                lasts[count - first] = 0;
                *(last ? &tree->contexts[last].sibling : &tree->contexts[parent].first_child) =
                    caller;
                last = caller;
            }
            above = caller;
            last_of = &lasts[caller - adding->first - first];
        }
        *(*last_of ? &tree->contexts[*last_of].sibling : &tree->contexts[above].first_child) = slot;
        *last_of = slot;
        if (code)
            tree->contexts[slot].parent = above;
    }
    free(lasts);
}

void jit_callers_add(struct tree *tree, struct images *images)
{
    struct adding adding = {.tree = tree,
                            .images = images,
                            .first = (uint32_t)tree->context_count,
                            .context_room = tree->context_count,
                            .module_room = tree->module_count};

    adding.maps = jit_maps_of(tree, images, &adding.map_count);
    if (adding.map_count)
        for (uint32_t slot = 1; slot < adding.first; slot++)
            if (tree->contexts[slot].first_child)
                look_below(&adding, slot);
    free(adding.maps);
    pair_index_free(&adding.callers);
    pair_index_free(&adding.codes);
}
