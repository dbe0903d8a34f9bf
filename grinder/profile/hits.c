#include "grinder/profile/hits.h"

#include <stdlib.h>

#include "support/memory.h"

static struct hit hit_of(const struct tree *tree, const struct tree_hit *recorded)
{
    const struct trace_header *header = &tree->header;
    double ticks =
        recorded->ticks > header->start_ticks ? (double)(recorded->ticks - header->start_ticks) : 0;

    return (struct hit){
        .at_ns = header->created_ns + (uint64_t)(ticks * 1e9 / (double)header->ticks_per_second),
        .ns = recorded->ns,
        .spot = tree_spot(tree, &tree->contexts[recorded->slot], recorded->instruction),
    };
}

void hits_add(struct hit_list *hits, const struct tree *tree, uint32_t thread,
              struct stack_tree *stacks, uint32_t *numbers, const uint8_t *chosen)
{
    size_t count;
    const struct tree_hit *recorded = tree_hits_of(tree, thread, &count);

    for (size_t i = 0; i < count; i++) {
        const struct context *context = &tree->contexts[recorded[i].slot];

        if (chosen && !chosen[context->function])
            continue;
        hits->items = memory_grow(hits->items, hits->count, &hits->room, sizeof(*hits->items));
        hits->items[hits->count] = hit_of(tree, &recorded[i]);
        hits->items[hits->count++].stack = stack_of_context(stacks, tree, context, numbers);
    }
}

void hits_free(struct hit_list *hits)
{
    free(hits->items);
    *hits = (struct hit_list){0};
}
