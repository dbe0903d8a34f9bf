/*
 * Forward dataflow over a function's blocks, from its entry until nothing changes. A block that is
 * reached from one place takes over what holds there; where ways meet, what holds on all of them
 * is kept.
 *
 * All jumps by the same table meet in a node of their own, so an interpreter that looks up its next
 * instruction at the end of each has as many ways as jumps and targets, not as their product.
 *
 *      jump --+                 +--> target
 *      jump --+--> the table ---+--> target
 *      jump --+                 +--> target
 *
 * Where unwinding or another member of the family enters a function is looked at last, and what
 * holds there is only what the unwind information says: the place of the stack pointer.
 *
 * Compilers hoist the address of a table out of loops and spill it, so registers are followed
 * through stack slots. The address of a slot that was spilled to is never taken. What a program
 * does that stores to its own frame by other ways, is not seen.
 */
#include "rewriter/flow/flow_walk.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow_effects.h"
#include "rewriter/flow/flow_returns.h"
#include "support/memory.h"
#include "support/sorted.h"

#define MOST_BLOCKS (1u << 16)
#define MOST_TABLES 512
#define MOST_ROUNDS 8  /* in which tables show where more blocks begin */
#define MOST_VISITS 12 /* of a block, on average */
#define WIDE_AFTER  8  /* joins that changed a block, limits are dropped */
#define NOWHERE     UINT32_MAX

enum source_kind {
    FROM_NOBODY,
    FROM_ONE,
    FROM_SEVERAL,
};

/* A block, or the node of a table. */
struct node {
    struct state in;
    uint32_t from;  /* the edge by which it is entered, if it is one */
    uint8_t source; /* enum source_kind */
    uint8_t join_count;
    uint32_t first, end; /* steps of a block */
};

struct walk {
    struct flow_walk *result;
    struct table_reader *reader;
    const struct flow_body *body;
    const struct flow_entries *entries;
    enum flow_effort effort;
    struct flow_steps steps;
    uint64_t *leaders; /* a bit for each byte */
    struct node *blocks;
    size_t block_count;
    uint32_t *block_of; /* of a step */
    uint64_t *waiting;  /* a bit for each block that is to be looked at again */
    struct node *nodes; /* one for each table */
    size_t node_room;
    bool is_split; /* a table leads into the middle of a block */
    bool is_too_much;
    uint64_t visits_left;
    struct state now; /* with room for MOST_SLOTS */
    struct slot slots[MOST_SLOTS + 1];
};

/* Edges, as numbers: of each block two, of each table and of each jump by a pointer one. */
#define EDGE_ON(block)     ((uint32_t)(block)*2)
#define EDGE_TAKEN(block)  ((uint32_t)(block)*2 + 1)
#define EDGE_TABLE(table)  (0x80000000u + (uint32_t)(table))
#define EDGE_POINTER(jump) (0xc0000000u + (jump)->offset)
#define EDGE_ENTRY         UINT32_MAX

static bool bit_of(const uint64_t *words, uint64_t at)
{
    return words[at / 64] >> at % 64 & 1;
}

static void set_bit(uint64_t *words, uint64_t at)
{
    words[at / 64] |= 1ull << at % 64;
}

/* Enters a node with `state`; whether what is known there has changed. */
static bool node_enter(struct node *node, const struct state *state, uint32_t edge, uint64_t place)
{
    bool is_changed;

    if (node->source == FROM_NOBODY || (node->source == FROM_ONE && node->from == edge)) {
        if (node->source == FROM_ONE && state_equals(&node->in, state))
            return false;
        node->source = FROM_ONE;
        node->from = edge;
        state_assign(&node->in, state);
        return true;
    }
    node->source = FROM_SEVERAL;
    is_changed = state_join(&node->in, state, place, node->join_count >= WIDE_AFTER);
    if (is_changed && node->join_count < WIDE_AFTER)
        node->join_count++;
    return is_changed;
}

static void block_enter(struct walk *walk, uint32_t block, const struct state *state, uint32_t edge)
{
    if (node_enter(&walk->blocks[block], state, edge, block + 1u))
        set_bit(walk->waiting, block);
}

/* The block that begins at an offset; NOWHERE if none does. */
static uint32_t block_at(const struct walk *walk, uint64_t offset)
{
    size_t at;

    if (offset >= walk->body->size || !bit_of(walk->leaders, offset))
        return NOWHERE;
    at = partition_point(i, walk->block_count,
                         walk->steps.items[walk->blocks[i].first].offset < offset);
    /* one that a table showed in this round begins in the next */
    if (at == walk->block_count || walk->steps.items[walk->blocks[at].first].offset != offset)
        return NOWHERE;
    return (uint32_t)at;
}

/* ---- indirect jumps */

/* Whether the return address is on top of the stack. */
static bool is_at_entry(const struct walk *walk, const struct state *now, const struct step *step)
{
    const struct code_unwind *unwind = &walk->body->code->unwind;
    const struct value *rsp = &now->registers[X86_RSP];
    struct return_slot slot;

    if (rsp->kind == VALUE_STACK && rsp->root == 0)
        return rsp->number == 0;
    if (!unwind->begin)
        return false;
    unwind->begin(unwind->context, walk->reader->function);
    slot = unwind->slot_at(unwind->context, walk->body->address + step->offset);
    return slot.base == RETURN_SLOT_RSP && slot.offset == 0;
}

static struct jump *jump_at(struct walk *walk, uint32_t offset)
{
    struct flow_walk *result = walk->result;
    size_t at = partition_point(i, result->jump_count, result->jumps[i].offset < offset);

    return &result->jumps[at];
}

/*
 * Compilers count from where a table begins. If it is indexed from another place near it, the index
 * does not begin with 0, and may be below it: [table + 16 + index * 4].
 */
static void begin_at_origin(struct value *target)
{
    int64_t skipped = (int64_t)(target->number - target->origin) / 4;

    if (skipped == 0 || skipped > HIGHEST_LIMIT || skipped < -HIGHEST_LIMIT ||
        (target->number - target->origin) % 4)
        return;
    target->number = target->origin;
    if (target->limit == NO_LIMIT || target->is_by_type || (int64_t)target->limit + skipped < 0 ||
        (int64_t)target->limit + skipped > HIGHEST_LIMIT)
        target->limit = NO_LIMIT;
    else
        target->limit = (uint32_t)((int64_t)target->limit + skipped);
}

/* The node of a table that was met before, or a new one; null if there are too many. */
static struct table *table_find(struct walk *walk, const struct value *value)
{
    struct flow_walk *result = walk->result;
    uint64_t origin = value->kind == VALUE_TARGET ? value->origin : 0;

    for (size_t i = 0; i < result->table_count; i++)
        if (result->tables[i].address == value->number && result->tables[i].origin == origin &&
            result->tables[i].entry_size == value->entry_size)
            return &result->tables[i];
    if (result->table_count == MOST_TABLES)
        return NULL;
    result->tables = memory_grow(result->tables, result->table_count, &result->table_room,
                                 sizeof(*result->tables));
    walk->nodes =
        memory_grow(walk->nodes, result->table_count, &walk->node_room, sizeof(*walk->nodes));
    result->tables[result->table_count] =
        (struct table){.address = value->number, .origin = origin, .entry_size = value->entry_size};
    walk->nodes[result->table_count] = (struct node){0};
    return &result->tables[result->table_count++];
}

/* Reads it, if it was not, or not as far. */
static bool table_reach(struct walk *walk, struct table *table, const struct value *value)
{
    if (!table->is_read || table->limit < value->limit) {
        table->limit = value->limit;
        table->is_by_type |= value->is_by_type;
        table_read(table, walk->reader);
        table->has_grown = true;
    }
    table->is_by_type |= value->is_by_type;
    return !table->is_torn && (table->target_count > 0 || table->leads_out);
}

static void table_enter(struct walk *walk, struct table *table, const struct step *jump)
{
    size_t number = (size_t)(table - walk->result->tables);
    struct node *node = &walk->nodes[number];
    uint64_t place = walk->block_count + 1 + number;

    if (!node_enter(node, &walk->now, jump->offset, place) && !table->has_grown)
        return;
    table->has_grown = false;
    for (size_t i = 0; i < table->target_count; i++) {
        uint32_t block = block_at(walk, table->targets[i]);

        if (block != NOWHERE) {
            block_enter(walk, block, &node->in, EDGE_TABLE(number));
            continue;
        }
        set_bit(walk->leaders, table->targets[i]);
        walk->is_split = true;
    }
}

static struct value jump_value(const struct state *now, const struct step *step)
{
    if (step->kind == STEP_JUMP)
        return now->registers[step->from];
    if (step->kind == STEP_JUMP_LOAD)
        return state_loaded(now, step);
    return value_fresh(0);
}

static void run_jump(struct walk *walk, const struct step *step)
{
    struct value value = jump_value(&walk->now, step);
    struct jump *jump = jump_at(walk, step->offset);
    struct table *table = NULL;

    jump->kind = JUMP_UNKNOWN;
    if (value.kind == VALUE_TARGET && !flow_body_holds(walk->body, value.origin))
        begin_at_origin(&value);
    if (value.kind == VALUE_TARGET || (value.kind == VALUE_ENTRY && value.entry_size == 8)) {
        table = table_find(walk, &value);
        if (!table)
            walk->is_too_much = true;
        else if (table_reach(walk, table, &value)) {
            jump->kind = JUMP_TABLE;
            jump->table = (uint32_t)(table - walk->result->tables);
            table_enter(walk, table, step);
            return;
        }
    }
    if (value.is_sum)
        return;
    jump->kind = is_at_entry(walk, &walk->now, step) ? JUMP_LEAVES : JUMP_POINTER;
    for (size_t i = 0; jump->kind == JUMP_POINTER && i < walk->entries->label_count; i++)
        block_enter(walk, block_at(walk, walk->entries->labels[i]), &walk->now, EDGE_POINTER(step));
}

/* ---- blocks */

enum {
    CONDITION_BELOW = 2,
    CONDITION_NOT_BELOW = 3,
    CONDITION_EQUAL = 4,
    CONDITION_NOT_EQUAL = 5,
    CONDITION_NOT_ABOVE = 6,
    CONDITION_ABOVE = 7,
};

/* What a comparison says of a value, if its branch is taken, or is not. */
static void bound_by(struct state *now, unsigned condition, bool is_taken)
{
    const struct comparison comparison = now->comparison;
    uint64_t limit = comparison.number;

    if (!is_taken)
        condition ^= 1;
    if (!comparison.is_known || limit > HIGHEST_LIMIT)
        return;
    if (condition == CONDITION_BELOW && limit > 0)
        limit--;
    else if (condition != CONDITION_NOT_ABOVE && condition != CONDITION_EQUAL)
        return;
    state_bound(now, comparison.root, comparison.bits, (uint32_t)limit);
}

static void copy_to_now(struct walk *walk, const struct state *state)
{
    struct slot *slots = walk->slots;

    walk->now = *state;
    walk->now.slots = slots;
    if (state->slot_count)
        memcpy(slots, state->slots, state->slot_count * sizeof(*slots));
}

/* On to the two ends of a conditional branch. */
static void run_condition(struct walk *walk, uint32_t block, const struct step *step)
{
    uint32_t taken = block_at(walk, (uint64_t)step->number);
    struct state before = walk->now;
    struct slot slots[MOST_SLOTS];

    if (before.slot_count)
        memcpy(slots, before.slots, before.slot_count * sizeof(*slots));
    before.slots = slots;
    if (taken != NOWHERE) {
        if (step->flow == FLOW_CONDITION)
            bound_by(&walk->now, step->condition, true);
        block_enter(walk, taken, &walk->now, EDGE_TAKEN(block));
    }
    if (block + 1u >= walk->block_count)
        return;
    if (taken != NOWHERE)
        copy_to_now(walk, &before);
    if (step->flow == FLOW_CONDITION)
        bound_by(&walk->now, step->condition, false);
    block_enter(walk, block + 1u, &walk->now, EDGE_ON(block));
}

static bool ends_at_call(const struct walk *walk, const struct step *step)
{
    const struct flow_source *source = walk->reader->source;

    if (step->kind != STEP_CALL || walk->effort == FLOW_ALL_CALLS_RETURN)
        return false;
    if (step->flow == FLOW_CALL)
        return flow_never_returns(source, walk->body->address + (uint64_t)step->number);
    return step->has_memory && step->base == NO_REGISTER && step->index == NO_REGISTER &&
           flow_import_never_returns(source, (uint64_t)step->displacement);
}

static void run_block(struct walk *walk, uint32_t block)
{
    const struct node *node = &walk->blocks[block];
    const struct step *last = &walk->steps.items[node->end - 1];
    uint32_t target;

    copy_to_now(walk, &node->in);
    for (uint32_t i = node->first; i < node->end; i++) {
        if (ends_at_call(walk, &walk->steps.items[i]))
            return;
        state_step(&walk->now, &walk->steps.items[i]);
    }
    switch (last->flow) {
    case FLOW_INDIRECT_JUMP:
        run_jump(walk, last);
        return;
    case FLOW_CONDITION:
    case FLOW_LOOP:
        run_condition(walk, block, last);
        return;
    case FLOW_JUMP:
        target = block_at(walk, (uint64_t)last->number);
        if (target != NOWHERE)
            block_enter(walk, target, &walk->now, EDGE_TAKEN(block));
        return;
    case FLOW_END:
        return;
    default:
        if (block + 1u < walk->block_count)
            block_enter(walk, block + 1u, &walk->now, EDGE_ON(block));
        return;
    }
}

/* Until nothing changes; from the front, as most ways lead to what follows. */
static void run_blocks(struct walk *walk)
{
    size_t words = walk->block_count / 64 + 1;
    bool is_changed = true;

    while (is_changed && !walk->is_too_much) {
        is_changed = false;
        for (size_t i = 0; i < words; i++)
            while (walk->waiting[i]) {
                uint32_t block = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(walk->waiting[i]);

                walk->waiting[i] &= walk->waiting[i] - 1;
                if (walk->visits_left-- == 0) {
                    walk->is_too_much = true;
                    return;
                }
                is_changed = true;
                run_block(walk, block);
            }
    }
}

/* ---- where blocks begin */

static void add_leaders(struct walk *walk, const uint32_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_bit(walk->leaders, offsets[i]);
}

static void find_leaders(struct walk *walk)
{
    const struct flow_body *body = walk->body;
    const struct address_set *jumps = &walk->reader->source->map->jumps;
    uint64_t end = body->address + body->size;

    walk->leaders = memory_zeroed(body->size / 64 + 1, sizeof(*walk->leaders));
    set_bit(walk->leaders, 0);
    add_leaders(walk, body->targets, body->target_count);
    add_leaders(walk, walk->entries->pads, walk->entries->pad_count);
    add_leaders(walk, walk->entries->labels, walk->entries->label_count);
    /* what discovery took for entries of jump tables is among them */
    for (uint64_t at = address_set_next(jumps, body->address, end); at < end;
         at = address_set_next(jumps, at + 1, end))
        if (flow_body_starts(body, at))
            set_bit(walk->leaders, at - body->address);
    for (size_t i = 0; i + 1 < walk->steps.count; i++)
        if (walk->steps.items[i].flow != FLOW_NEXT && walk->steps.items[i].kind != STEP_CALL)
            set_bit(walk->leaders, walk->steps.items[i + 1].offset);
}

static void blocks_free(struct walk *walk)
{
    for (size_t i = 0; i < walk->block_count; i++)
        state_free(&walk->blocks[i].in);
    for (size_t i = 0; i < walk->result->table_count; i++)
        state_free(&walk->nodes[i].in);
    free(walk->blocks);
    free(walk->waiting);
    walk->blocks = NULL;
    walk->waiting = NULL;
    walk->block_count = 0;
}

static bool blocks_make(struct walk *walk)
{
    size_t count = 0, block = 0;

    for (size_t i = 0; i <= walk->body->size / 64; i++)
        count += (size_t)__builtin_popcountll(walk->leaders[i]);
    if (count > MOST_BLOCKS)
        return false;
    walk->blocks = memory_zeroed(count, sizeof(*walk->blocks));
    walk->waiting = memory_zeroed(count / 64 + 1, sizeof(*walk->waiting));
    walk->block_count = count;
    for (uint32_t i = 0; i < walk->steps.count; i++) {
        if (bit_of(walk->leaders, walk->steps.items[i].offset))
            walk->blocks[block++].first = i;
        walk->blocks[block - 1].end = i + 1;
    }
    return true;
}

static void find_jumps(struct walk *walk)
{
    struct flow_walk *result = walk->result;

    for (size_t i = 0; i < walk->steps.count; i++) {
        if (walk->steps.items[i].flow != FLOW_INDIRECT_JUMP)
            continue;
        result->jumps = memory_grow(result->jumps, result->jump_count, &result->jump_room,
                                    sizeof(*result->jumps));
        result->jumps[result->jump_count++] =
            (struct jump){.offset = walk->steps.items[i].offset, .kind = JUMP_UNKNOWN};
    }
}

/* ---- all of it */

/* What the unwind information says of the stack at an offset. */
static void know_stack(const struct walk *walk, struct state *now, uint32_t offset)
{
    const struct code_unwind *unwind = &walk->body->code->unwind;
    struct return_slot slot;
    struct value *base;

    if (!unwind->begin)
        return;
    unwind->begin(unwind->context, walk->reader->function);
    slot = unwind->slot_at(unwind->context, walk->body->address + offset);
    if (slot.base == RETURN_SLOT_UNKNOWN)
        return;
    base = &now->registers[slot.base == RETURN_SLOT_RSP ? X86_RSP : X86_RBP];
    base->kind = VALUE_STACK;
    base->root = 0;
    base->number = (uint64_t)-slot.offset;
}

/* The stack as a call to this function finds it. A fragment's is as its unwind
   information says. */
static void enter_function(struct walk *walk)
{
    state_unknown(&walk->now, 1);
    if (walk->reader->function->reason != PATCH_FRAGMENT) {
        walk->now.registers[X86_RSP].kind = VALUE_STACK;
        walk->now.registers[X86_RSP].root = 0;
    } else {
        know_stack(walk, &walk->now, 0);
    }
    block_enter(walk, 0, &walk->now, EDGE_ENTRY);
}

/* Enters places where nothing has come so far. */
static void enter_others(struct walk *walk, const uint32_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t block = block_at(walk, offsets[i]);

        if (walk->blocks[block].source != FROM_NOBODY)
            continue;
        state_unknown(&walk->now, block + 1u);
        know_stack(walk, &walk->now, offsets[i]);
        block_enter(walk, block, &walk->now, EDGE_ENTRY);
    }
}

static void start_round(struct walk *walk)
{
    struct flow_walk *result = walk->result;

    for (size_t i = 0; i < result->jump_count; i++)
        result->jumps[i].kind = JUMP_UNKNOWN;
    for (size_t i = 0; i < result->table_count; i++) {
        state_free(&walk->nodes[i].in);
        table_free(&result->tables[i]);
        walk->nodes[i] = (struct node){0};
    }
    result->table_count = 0;
    walk->is_split = false;
    walk->visits_left = (uint64_t)walk->block_count * MOST_VISITS + 4096;
}

static bool run_round(struct walk *walk)
{
    if (!blocks_make(walk))
        return false;
    start_round(walk);
    enter_function(walk);
    run_blocks(walk);
    enter_others(walk, walk->entries->pads, walk->entries->pad_count);
    enter_others(walk, walk->entries->labels, walk->entries->label_count);
    run_blocks(walk);
    return !walk->is_too_much;
}

static bool run_rounds(struct walk *walk)
{
    bool is_done;
    unsigned rounds = 0;

    do {
        is_done = run_round(walk);
        blocks_free(walk);
    } while (is_done && walk->is_split && ++rounds < MOST_ROUNDS);
    return is_done && !walk->is_split;
}

bool flow_walk(struct flow_walk *result, struct table_reader *reader,
               const struct flow_entries *entries, enum flow_effort effort)
{
    struct walk walk = {.result = result,
                        .reader = reader,
                        .body = reader->body,
                        .entries = entries,
                        .effort = effort};
    bool is_done;

    *result = (struct flow_walk){0};
    if (!flow_steps_read(&walk.steps, reader->body)) {
        flow_steps_free(&walk.steps);
        return false;
    }
    table_reader_note(reader, &walk.steps);
    walk.now.slots = walk.slots;
    find_leaders(&walk);
    find_jumps(&walk);
    is_done = run_rounds(&walk);
    free(walk.nodes);
    free(walk.leaders);
    flow_steps_free(&walk.steps);
    return is_done;
}

void flow_walk_free(struct flow_walk *walk)
{
    for (size_t i = 0; i < walk->table_count; i++)
        table_free(&walk->tables[i]);
    free(walk->tables);
    free(walk->jumps);
    *walk = (struct flow_walk){0};
}
