#include "rewriter/copy/copy_count.h"

#include <stdlib.h>

#include "rewriter/copy/copy_nodes.h"
#include "rewriter/copy/copy_target.h"
#include "rewriter/flow/flow_flags.h"
#include "support/memory.h"
#include "trace/frame_format.h"

#define NEAR_BLOCKS 1000 /* that are looked at for the same */
#define MOST_DIRECT 6
#define ALL_CELLS   ((1u << FRAME_CELLS) - 1)

/* ---- what is pending */

/* Blocks that need not add: those that nothing leads to come last. */
static void join_in_order(struct copy_nodes *nodes)
{
    for (int depth = COPY_MOST_DEPTH; depth >= -1; depth--)
        for (uint32_t i = 0; i < nodes->count; i++) {
            uint32_t to = copy_nodes_behind(nodes, i);

            if (to != COPY_NO_BLOCK && depth == copy_node_order(&nodes->items[i]))
                copy_nodes_join(nodes, i, to, nodes->items[i].instructions);
        }
}

static int32_t pending_at(const struct copy_nodes *nodes, uint32_t block)
{
    int32_t above;

    copy_nodes_root(nodes, block, &above);
    return above;
}

static void settle(struct copy_count *count, const struct copy_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct copy_node *node = &nodes->items[i];
        uint32_t to = copy_nodes_behind(nodes, i);
        int32_t pending = pending_at(nodes, i) + node->instructions, added = 0;

        if (to != COPY_NO_BLOCK) {
            added = pending - pending_at(nodes, to);
            pending -= added;
        }
        count->blocks =
            memory_grow(count->blocks, count->count, &count->room, sizeof(*count->blocks));
        count->blocks[count->count++] =
            (struct count_block){.offset = node->offset, .added = added, .pending = pending};
    }
}

/* ---- to what blocks add */

static unsigned number_of(uint16_t registers)
{
    return (unsigned)__builtin_popcount(registers);
}

/* What finds the context takes two registers and flags: others cannot be kept where a function may
   have data below its stack pointer. */
static bool can_be_direct(const struct copy_nodes *nodes, uint32_t block)
{
    const struct copy_node *node = &nodes->items[block];
    uint64_t address = nodes->function->address + node->offset;
    const struct flow_source source = {.code = nodes->patches->code,
                                       .functions = nodes->patches->functions,
                                       .fates = nodes->fates};

    return node->depth == 0 && node->is_near &&
           number_of(flow_registers_dead(&nodes->plan->registers, address)) >= 2 &&
           flow_flags_fate(&source, address) != FLAGS_READ;
}

static bool all_can_be_direct(const struct copy_count *count, const struct copy_nodes *nodes)
{
    unsigned adding = 0;

    for (uint32_t i = 0; i < nodes->count; i++)
        if (count->blocks[i].added && (++adding > MOST_DIRECT || !can_be_direct(nodes, i)))
            return false;
    return true;
}

static void choose_cells(struct copy_count *count, const struct copy_nodes *nodes)
{
    bool are_direct = all_can_be_direct(count, nodes);
    uint8_t cell = 0;

    for (uint32_t i = 0; i < nodes->count; i++) {
        struct count_block *block = &count->blocks[i];

        block->is_direct = block->added && are_direct;
        block->cell = cell;
        if (block->added)
            cell = (uint8_t)((cell + 1) % FRAME_CELLS);
    }
}

/* ---- which cells may be held */

static bool pass_on(struct copy_nodes *nodes, uint32_t block, uint8_t held)
{
    uint8_t before = nodes->items[block].held;

    nodes->items[block].held |= held;
    return held & ~before;
}

static bool pass(struct copy_count *count, struct copy_nodes *nodes)
{
    bool has_grown = false;

    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct copy_node *node = &nodes->items[i];
        struct count_block *block = &count->blocks[i];

        block->held = (node->held & ALL_CELLS) |
                      (block->added && !block->is_direct ? (uint8_t)(1u << block->cell) : 0);
        if (copy_node_goes_on(node))
            has_grown |= pass_on(nodes, i + 1, block->held);
        if (node->target != COPY_NO_BLOCK)
            has_grown |= pass_on(nodes, node->target, block->held);
    }
    return has_grown;
}

/* ---- what each call returns with */

static bool is_free_return(const struct copy_count *count, const struct copy_nodes *nodes,
                           uint32_t block)
{
    int32_t above;

    return nodes->items[block].end == END_RETURN && !count->blocks[block].held &&
           copy_nodes_root(nodes, block, &above) == nodes->count;
}

/* What most returns have pending that need count nothing else, so that they count nothing at all.
 */
static void choose_returned(struct copy_count *count, const struct copy_nodes *nodes)
{
    uint32_t most = 0;

    count->returned = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t same = 0;

        if (!is_free_return(count, nodes, i))
            continue;
        for (uint32_t j = i; j < nodes->count && j - i < NEAR_BLOCKS; j++)
            same += is_free_return(count, nodes, j) &&
                    count->blocks[j].pending == count->blocks[i].pending;
        if (same > most) {
            most = same;
            count->returned = count->blocks[i].pending;
        }
    }
}

static void add_way(void *user, const struct instruction *at, uint8_t end)
{
    struct copy_count *count = user;
    bool is_direct = at->flow != FLOW_INDIRECT_CALL && at->flow != FLOW_INDIRECT_JUMP;

    if (end != END_CALL && end != END_COUNT && end != END_COUNT_IF)
        return;
    count->ways =
        memory_grow(count->ways, count->way_count, &count->way_room, sizeof(*count->ways));
    count->ways[count->way_count++] =
        (struct count_way){is_direct ? at->target : 0, end != END_CALL};
}

void copy_count_read(struct copy_count *count, const struct copy_plan *plan,
                     const struct patch_plan *patches, struct flow_fates *fates, uint32_t member)
{
    struct copy_nodes nodes;

    count->count = count->way_count = 0;
    copy_nodes_read(&nodes, plan, patches, fates, member, add_way, count);
    copy_nodes_join_alternatives(&nodes, false);
    join_in_order(&nodes);
    settle(count, &nodes);
    choose_cells(count, &nodes);
    while (pass(count, &nodes))
        continue;
    choose_returned(count, &nodes);
    copy_nodes_free(&nodes);
}

void copy_count_free(struct copy_count *count)
{
    free(count->ways);
    free(count->blocks);
    *count = (struct copy_count){0};
}

/* ---- which functions always return */

/* Of all members: where each one's ways begin, up to the next one's, and whether calls of it
 * return. */
struct returning {
    const struct copy_plan *plan;
    const struct function_list *functions;
    size_t *first;
    struct count_way *ways;
    size_t count, room;
    bool *always;
};

/* What is not copied may do anything. */
static bool always_returns(const struct returning *returning, uint64_t target)
{
    const struct function *function =
        target ? copy_target_callee(returning->functions, target) : NULL;

    return function && returning->always[function - returning->functions->items];
}

/* With jumps: whether whoever calls it is returned to; without: whether it is left as it says
 * itself. */
static bool all_return(const struct returning *returning, size_t member, bool with_jumps)
{
    for (size_t i = returning->first[member]; i < returning->first[member + 1]; i++)
        if ((with_jumps || !returning->ways[i].is_jump) &&
            !always_returns(returning, returning->ways[i].target))
            return false;
    return true;
}

/* Until no more of them turn out to call one that may not return. */
static void find_always(struct returning *returning)
{
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < returning->plan->count; i++)
            if (returning->always[i] && !all_return(returning, i, true)) {
                returning->always[i] = false;
                has_changed = true;
            }
    }
}

static void keep_ways(struct returning *returning, const struct copy_count *count)
{
    for (size_t i = 0; i < count->way_count; i++) {
        returning->ways = memory_grow(returning->ways, returning->count, &returning->room,
                                      sizeof(*returning->ways));
        returning->ways[returning->count++] = count->ways[i];
    }
}

int32_t *copy_count_returned(const struct copy_plan *plan, const struct patch_plan *patches,
                             struct flow_fates *fates)
{
    struct returning returning = {.plan = plan, .functions = patches->functions};
    struct copy_count count = {0};
    int32_t *returned = memory_zeroed(plan->count, sizeof(*returned));
    uint32_t *parts_of = memory_zeroed(plan->count, sizeof(*parts_of));

    returning.first = memory_zeroed(plan->count + 1, sizeof(*returning.first));
    returning.always = memory_zeroed(plan->count, sizeof(*returning.always));
    for (uint32_t i = 0; i < plan->count; i++)
        if (copy_plan_has(plan, i))
            parts_of[copy_plan_family(plan, i)]++;
    for (uint32_t i = 0; i < plan->count; i++) {
        /* Of a function in several parts it is not known whose call returns there. */
        bool is_whole = copy_plan_has(plan, i) && parts_of[copy_plan_family(plan, i)] == 1;

        if (is_whole) {
            copy_count_read(&count, plan, patches, fates, i);
            keep_ways(&returning, &count);
            returned[i] = count.returned;
        }
        returning.always[i] = is_whole;
        returning.first[i + 1] = returning.count;
    }
    find_always(&returning);
    for (uint32_t i = 0; i < plan->count; i++)
        if (!all_return(&returning, i, false))
            returned[i] = 0;
    copy_count_free(&count);
    free(parts_of);
    free(returning.first);
    free(returning.ways);
    free(returning.always);
    return returned;
}
