#include "rewriter/copy/copy_ways.h"

#include <stdlib.h>

#include "rewriter/copy/copy_nodes.h"
#include "support/memory.h"

/* Places that are one: those that a block leads to, and those that the ground leads to. */
static void join_places(struct copy_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct copy_node *node = &nodes->items[i];

        if (node->is_entered)
            copy_nodes_join(nodes, nodes->count, i, 0);
        if (node->end == END_BRANCH)
            copy_nodes_join(nodes, node->target, i + 1, 0);
        if (node->end == END_AWAY_IF || node->end == END_COUNT_IF)
            copy_nodes_join(nodes, nodes->count, i + 1, 0);
    }
}

/* A block that begins where this one leads to; the ground's number, nodes->count, if it leaves. */
static uint32_t block_behind(const struct copy_nodes *nodes, uint32_t block)
{
    uint32_t to = copy_nodes_behind(nodes, block);

    return to == COPY_NO_BLOCK ? nodes->count : to;
}

/* The number of the place where a block begins; `numbers`, by the root of its tree, is filled in.
 */
static uint32_t place_of(struct copy_ways *ways, const struct copy_nodes *nodes, uint32_t *numbers,
                         uint32_t block)
{
    int32_t above;
    uint32_t root = copy_nodes_root(nodes, block, &above);

    if (root == nodes->count)
        return COPY_GROUND;
    if (!numbers[root])
        numbers[root] = ways->places++;
    return numbers[root];
}

static void add_ways(struct copy_ways *ways, const struct copy_nodes *nodes)
{
    uint32_t *numbers = memory_zeroed(nodes->count + 1, sizeof(*numbers));

    ways->places = 1;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct copy_node *node = &nodes->items[i];

        ways->items = memory_grow(ways->items, ways->count, &ways->room, sizeof(*ways->items));
        ways->items[ways->count++] = (struct copy_way){
            .offset = node->offset,
            .from = place_of(ways, nodes, numbers, i),
            .to = place_of(ways, nodes, numbers, block_behind(nodes, i)),
            .counts = true,
            .is_known = node->is_reached || node->is_entered,
        };
    }
    free(numbers);
}

static void choose_counted(struct copy_ways *ways, struct copy_nodes *nodes)
{
    for (int depth = COPY_MOST_DEPTH; depth >= -1; depth--)
        for (uint32_t i = 0; i < nodes->count; i++)
            if (depth == copy_node_order(&nodes->items[i]) &&
                copy_nodes_join(nodes, i, block_behind(nodes, i), 0))
                ways->items[i].counts = false;
}

void copy_ways_read(struct copy_ways *ways, const struct copy_plan *plan,
                    const struct patch_plan *patches, struct flow_fates *fates, uint32_t member)
{
    struct copy_nodes nodes;

    ways->count = 0;
    copy_nodes_read(&nodes, plan, patches, fates, member, NULL, NULL);
    join_places(&nodes);
    add_ways(ways, &nodes);
    choose_counted(ways, &nodes);
    copy_nodes_free(&nodes);
}

void copy_ways_free(struct copy_ways *ways)
{
    free(ways->items);
    *ways = (struct copy_ways){0};
}
