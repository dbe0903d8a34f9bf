#include "rewriter/copy/copy_count.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_jumps.h"
#include "rewriter/copy/copy_target.h"
#include "rewriter/flow/flow_flags.h"
#include "support/memory.h"
#include "support/sorted.h"
#include "trace/frame_format.h"

#define MOST_DEPTH  15 /* that is told from less */
#define NO_BLOCK    UINT32_MAX
#define NEAR_BLOCKS 1000 /* that are looked at for the same */
#define MOST_DIRECT 6
#define ALL_CELLS   ((1u << FRAME_CELLS) - 1)

enum end_kind {
    END_ON,       /* to the next */
    END_JUMP,     /* to a block */
    END_BRANCH,   /* to a block, or on */
    END_AWAY,     /* to code where 0 is pending */
    END_AWAY_IF,  /* that, or on */
    END_COUNT,    /* all is counted: a jump that leaves */
    END_RETURN,   /* all is counted, but for what is always so */
    END_COUNT_IF, /* a jump that leaves, or on */
    END_CALL,     /* all is counted, and it goes on with nothing pending */
    END_STOP,
};

/* A block while its member is looked at. */
struct node {
    uint32_t offset;
    uint32_t target; /* of END_JUMP and END_BRANCH: an offset, later a block */
    int32_t instructions;
    uint8_t end;     /* enum end_kind */
    int32_t depth;   /* loops around it; before that: how many begin here, less those that ended */
    bool is_entered; /* from elsewhere, or a call returns there */
    bool is_reached;
    bool is_near; /* the return address is at a known distance where it begins */
    uint8_t held; /* cells that may be other than 0 where it begins */
    /* What is pending where it begins, less the same of `parent`: a forest. */
    uint32_t parent;
    int32_t above;
};

struct reading {
    const struct copy_plan *plan;
    const struct patch_plan *patches;
    const struct function *function;
    uint32_t member;
    const uint8_t *bytes;
    ZydisDecoder decoder;
    struct copy_slots slots;
    struct flow_fates *fates;
    struct copy_count *result;
    uint64_t *joins;    /* a bit for each byte: a branch of the member leads there */
    struct node *nodes; /* one more than there are: the ground, where 0 is pending */
    uint32_t count;
    size_t room;
};

/* ---- blocks */

/* Where jumps of a member lead in other parts of its family. */
struct entries {
    struct copy_plan *plan;
    const struct function_list *functions;
    size_t member;
};

static bool is_in(const struct function *function, uint64_t address)
{
    return address - function->address < function->end - function->address;
}

static void note_entry(void *user, uint64_t target)
{
    const struct entries *entries = user;

    if (!is_in(&entries->functions->items[entries->member], target) &&
        copy_target_of_jump(entries->plan, entries->functions, entries->member, target, false) ==
            COPY_TARGET_INSIDE)
        address_set_add(&entries->plan->entered, target);
}

void copy_count_find_entered(struct copy_plan *plan, const struct flow_source *source)
{
    struct entries entries = {plan, source->functions, 0};

    address_set_init(&plan->entered, source->code);
    for (; entries.member < plan->count; entries.member++)
        if (copy_plan_has(plan, entries.member))
            copy_jumps_each(source->code, &source->functions->items[entries.member], note_entry,
                            &entries);
    copy_plan_add_entries(plan, source, &plan->entered);
}

static bool is_joined(const struct reading *reading, uint32_t offset)
{
    return reading->joins[offset / 64] >> offset % 64 & 1;
}

static void note_join(void *user, uint64_t target)
{
    const struct reading *reading = user;
    uint64_t offset = target - reading->function->address;

    if (is_in(reading->function, target))
        reading->joins[offset / 64] |= 1ull << offset % 64;
}

static uint8_t end_of_jump(struct reading *reading, const struct instruction *at)
{
    struct return_slot slot = copy_slot_at(&reading->slots, at->address);
    bool is_certain = at->flow == FLOW_JUMP;

    if (is_in(reading->function, at->target))
        return is_certain ? END_JUMP : END_BRANCH;
    if (copy_target_leaves(reading->plan, reading->patches->functions, reading->member, at->target,
                           slot))
        return is_certain ? END_COUNT : END_COUNT_IF;
    return is_certain ? END_AWAY : END_AWAY_IF;
}

static uint8_t end_of(struct reading *reading, const struct instruction *at)
{
    switch (at->flow) {
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        return end_of_jump(reading, at);
    case FLOW_CALL:
    case FLOW_INDIRECT_CALL:
        return END_CALL;
    case FLOW_INDIRECT_JUMP:
        return copy_target_pointer_leaves(reading->plan, at->address,
                                          copy_slot_at(&reading->slots, at->address))
                   ? END_COUNT
                   : END_AWAY;
    case FLOW_END:
        return instruction_is_return(at) ? END_RETURN : END_STOP;
    default:
        return END_ON;
    }
}

static struct node *add_node(struct reading *reading, uint64_t address, bool is_behind_call)
{
    uint32_t offset = (uint32_t)(address - reading->function->address);
    struct return_slot slot = copy_slot_at(&reading->slots, address);

    reading->nodes =
        memory_grow(reading->nodes, reading->count + 1, &reading->room, sizeof(*reading->nodes));
    reading->nodes[reading->count] = (struct node){
        .offset = offset,
        .target = NO_BLOCK,
        .parent = reading->count,
        .is_near = copy_slot_is_near(slot),
        .is_entered =
            !offset || is_behind_call || address_set_has(&reading->plan->entered, address),
        .held = address_set_has(&reading->plan->entered, address) ||
                        (!offset && reading->function->reason == PATCH_FRAGMENT)
                    ? ALL_CELLS
                    : 0,
    };
    return &reading->nodes[reading->count++];
}

static void add_way(struct copy_count *count, const struct instruction *at, uint8_t end)
{
    bool is_direct = at->flow != FLOW_INDIRECT_CALL && at->flow != FLOW_INDIRECT_JUMP;

    if (end != END_CALL && end != END_COUNT && end != END_COUNT_IF)
        return;
    count->ways =
        memory_grow(count->ways, count->way_count, &count->way_room, sizeof(*count->ways));
    count->ways[count->way_count++] =
        (struct count_way){is_direct ? at->target : 0, end != END_CALL};
}

static void read_nodes(struct reading *reading)
{
    const struct function *function = reading->function;
    struct instruction at = {.address = function->address};
    uint8_t last = END_STOP;
    struct node *node = NULL;

    for (; at.address < function->end; at.address += at.length) {
        uint32_t offset = (uint32_t)(at.address - function->address);

        if (!node || last != END_ON || is_joined(reading, offset) ||
            address_set_has(&reading->plan->entered, at.address))
            node = add_node(reading, at.address, last == END_CALL);
        if (!copy_read_next(&reading->decoder, reading->bytes + offset, function->end - at.address,
                            &at))
            return;
        node->instructions++;
        node->end = last = end_of(reading, &at);
        add_way(reading->result, &at, last);
        if (last == END_JUMP || last == END_BRANCH)
            node->target = (uint32_t)(at.target - function->address);
    }
}

static void find_targets(struct reading *reading)
{
    const struct node *nodes = reading->nodes;

    for (uint32_t i = 0; i < reading->count; i++) {
        uint32_t target = nodes[i].target;
        size_t place;

        if (target == NO_BLOCK)
            continue;
        place = partition_point(j, reading->count, nodes[j].offset < target);
        /* Else it leads into an instruction; what is read there is counted as if it led away. */
        if (place < reading->count && nodes[place].offset == target) {
            reading->nodes[i].target = (uint32_t)place;
            continue;
        }
        reading->nodes[i].target = NO_BLOCK;
        reading->nodes[i].end = nodes[i].end == END_JUMP ? END_AWAY : END_AWAY_IF;
    }
}

/* ---- what is pending */

/* To the block that follows, which behind the last is the ground. */
static bool goes_on(const struct node *node)
{
    return node->end == END_ON || node->end == END_BRANCH || node->end == END_AWAY_IF ||
           node->end == END_COUNT_IF;
}

/* The tree's root; *above: what is pending at the block, less the same there. */
static uint32_t root_of(const struct reading *reading, uint32_t block, int32_t *above)
{
    struct node *nodes = reading->nodes;

    for (*above = 0; nodes[block].parent != block; block = nodes[block].parent) {
        uint32_t parent = nodes[block].parent;

        if (nodes[parent].parent != parent) { /* next time it is shorter */
            nodes[block].above += nodes[parent].above;
            nodes[block].parent = nodes[parent].parent;
        }
        *above += nodes[block].above;
    }
    return block;
}

/* What is pending at `to` is to be `more` than at `from`, unless one depends on the other already.
 */
static void join(struct reading *reading, uint32_t from, uint32_t to, int32_t more)
{
    int32_t above_from, above_to;
    uint32_t root_from = root_of(reading, from, &above_from);
    uint32_t root_to = root_of(reading, to, &above_to);

    if (root_from == root_to)
        return;
    if (root_to == reading->count) { /* the ground stays a root */
        reading->nodes[root_from].parent = root_to;
        reading->nodes[root_from].above = above_to - more - above_from;
    } else {
        reading->nodes[root_to].parent = root_from;
        reading->nodes[root_to].above = above_from + more - above_to;
    }
}

/* A block that stands for all that this one leads to, and that have to agree; NO_BLOCK if there is
 * none. */
static uint32_t behind(const struct reading *reading, uint32_t block)
{
    const struct node *node = &reading->nodes[block];

    if (node->end == END_AWAY || node->end == END_AWAY_IF)
        return reading->count;
    if (node->target != NO_BLOCK)
        return node->target;
    return goes_on(node) ? block + 1 : NO_BLOCK;
}

/* Of blocks that one leads to, both have the same pending. */
static void join_alternatives(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        const struct node *node = &reading->nodes[i];

        if (node->is_entered)
            join(reading, reading->count, i, 0);
        if (node->end == END_BRANCH)
            join(reading, node->target, i + 1, 0);
        if (node->end == END_AWAY_IF)
            join(reading, reading->count, i + 1, 0);
    }
}

static void find_depths(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        uint32_t target = reading->nodes[i].target;

        if (i + 1 < reading->count && goes_on(&reading->nodes[i]))
            reading->nodes[i + 1].is_reached = true;
        if (target == NO_BLOCK)
            continue;
        reading->nodes[target].is_reached = true;
        if (target > i)
            continue;
        reading->nodes[target].depth++;
        reading->nodes[i + 1].depth--; /* the ground's, behind the last */
    }
    for (uint32_t i = 1; i < reading->count; i++)
        reading->nodes[i].depth += reading->nodes[i - 1].depth;
}

/* Blocks that need not add: those that nothing leads to come last. */
static void join_in_order(struct reading *reading)
{
    for (int depth = MOST_DEPTH; depth >= -1; depth--)
        for (uint32_t i = 0; i < reading->count; i++) {
            const struct node *node = &reading->nodes[i];
            bool is_last = !node->is_reached && !node->is_entered;
            uint32_t to = behind(reading, i);

            if (to != NO_BLOCK && depth == (is_last                    ? -1
                                            : node->depth < MOST_DEPTH ? node->depth
                                                                       : MOST_DEPTH))
                join(reading, i, to, node->instructions);
        }
}

static int32_t pending_at(const struct reading *reading, uint32_t block)
{
    int32_t above;

    root_of(reading, block, &above);
    return above;
}

static void settle(struct copy_count *count, const struct reading *reading)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        const struct node *node = &reading->nodes[i];
        uint32_t to = behind(reading, i);
        int32_t pending = pending_at(reading, i) + node->instructions, added = 0;

        if (to != NO_BLOCK) {
            added = pending - pending_at(reading, to);
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
static bool can_be_direct(const struct reading *reading, uint32_t block)
{
    const struct node *node = &reading->nodes[block];
    uint64_t address = reading->function->address + node->offset;
    const struct flow_source source = {.code = reading->patches->code,
                                       .functions = reading->patches->functions,
                                       .fates = reading->fates};

    return node->depth == 0 && node->is_near &&
           number_of(flow_registers_dead(&reading->plan->registers, address)) >= 2 &&
           flow_flags_fate(&source, address) != FLAGS_READ;
}

static bool all_can_be_direct(const struct copy_count *count, const struct reading *reading)
{
    unsigned adding = 0;

    for (uint32_t i = 0; i < reading->count; i++)
        if (count->blocks[i].added && (++adding > MOST_DIRECT || !can_be_direct(reading, i)))
            return false;
    return true;
}

static void choose_cells(struct copy_count *count, const struct reading *reading)
{
    bool are_direct = all_can_be_direct(count, reading);
    uint8_t cell = 0;

    for (uint32_t i = 0; i < reading->count; i++) {
        struct count_block *block = &count->blocks[i];

        block->is_direct = block->added && are_direct;
        block->cell = cell;
        if (block->added)
            cell = (uint8_t)((cell + 1) % FRAME_CELLS);
    }
}

/* ---- which cells may be held */

static bool pass_on(struct reading *reading, uint32_t block, uint8_t held)
{
    uint8_t before = reading->nodes[block].held;

    reading->nodes[block].held |= held;
    return held & ~before;
}

static bool pass(struct copy_count *count, struct reading *reading)
{
    bool has_grown = false;

    for (uint32_t i = 0; i < reading->count; i++) {
        const struct node *node = &reading->nodes[i];
        struct count_block *block = &count->blocks[i];

        block->held =
            node->held | (block->added && !block->is_direct ? (uint8_t)(1u << block->cell) : 0);
        if (goes_on(node))
            has_grown |= pass_on(reading, i + 1, block->held);
        if (node->target != NO_BLOCK)
            has_grown |= pass_on(reading, node->target, block->held);
    }
    return has_grown;
}

/* ---- what each call returns with */

static bool is_free_return(const struct copy_count *count, const struct reading *reading,
                           uint32_t block)
{
    int32_t above;

    return reading->nodes[block].end == END_RETURN && !count->blocks[block].held &&
           root_of(reading, block, &above) == reading->count;
}

/* What most returns have pending that need count nothing else, so that they count nothing at all.
 */
static void choose_returned(struct copy_count *count, const struct reading *reading)
{
    uint32_t most = 0;

    count->returned = 0;
    for (uint32_t i = 0; i < reading->count; i++) {
        uint32_t same = 0;

        if (!is_free_return(count, reading, i))
            continue;
        for (uint32_t j = i; j < reading->count && j - i < NEAR_BLOCKS; j++)
            same += is_free_return(count, reading, j) &&
                    count->blocks[j].pending == count->blocks[i].pending;
        if (same > most) {
            most = same;
            count->returned = count->blocks[i].pending;
        }
    }
}

static void begin(struct reading *reading)
{
    size_t size;

    decoder_init(&reading->decoder);
    reading->slots = copy_slots_begin(reading->patches->code, reading->function);
    reading->bytes = code_at(reading->patches->code, reading->function->address, &size);
    size = reading->function->end - reading->function->address;
    reading->joins = memory_zeroed(size / 64 + 1, sizeof(*reading->joins));
}

void copy_count_read(struct copy_count *count, const struct copy_plan *plan,
                     const struct patch_plan *patches, struct flow_fates *fates, uint32_t member)
{
    struct reading reading = {
        .plan = plan,
        .fates = fates,
        .patches = patches,
        .function = &patches->functions->items[member],
        .member = member,
    };

    count->count = count->way_count = 0;
    reading.result = count;
    begin(&reading);
    copy_jumps_each(patches->code, reading.function, note_join, &reading);
    read_nodes(&reading);
    find_targets(&reading);
    reading.nodes[reading.count] =
        (struct node){.target = NO_BLOCK, .parent = reading.count, .end = END_STOP};
    find_depths(&reading);
    join_alternatives(&reading);
    join_in_order(&reading);
    settle(count, &reading);
    choose_cells(count, &reading);
    while (pass(count, &reading))
        continue;
    choose_returned(count, &reading);
    free(reading.nodes);
    free(reading.joins);
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
