#include "rewriter/copy/copy_ways.h"

#include <stdlib.h>

#include "rewriter/copy/copy_nodes.h"
#include "support/memory.h"

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
    copy_nodes_join_alternatives(&nodes, true);
    add_ways(ways, &nodes);
    choose_counted(ways, &nodes);
    copy_nodes_free(&nodes);
}

size_t copy_ways_counted(const struct copy_plan *plan, const struct patch_plan *patches,
                         struct flow_fates *fates, size_t most)
{
    struct copy_ways ways = {0};
    size_t counted = 0;

    for (uint32_t i = 0; i < plan->count && counted <= most; i++) {
        if (!copy_plan_has(plan, i))
            continue;
        copy_ways_read(&ways, plan, patches, fates, i);
        for (size_t k = 0; k < ways.count; k++)
            counted += ways.items[k].counts;
    }
    copy_ways_free(&ways);
    return counted;
}

void copy_ways_free(struct copy_ways *ways)
{
    free(ways->items);
    *ways = (struct copy_ways){0};
}
