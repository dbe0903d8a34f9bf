#include "rewriter/flow/flow_search.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow_body.h"
#include "rewriter/flow/flow_imports.h"
#include "rewriter/flow/flow_registers.h"
#include "rewriter/flow/flow_uses.h"
#include "support/memory.h"
#include "support/sorted.h"

#define MOST_BLOCKS (1u << 27)

#define X86_ENDBR64  "\xf3\x0f\x1e\xfa"
#define X86_CALL_RAX "\xff\x10" /* call [rax] */

struct step {
    uint32_t offset; /* in the function */
    uint32_t target; /* as of a block */
    struct flow_uses uses;
    uint8_t kind, place;
};

/* A function that is being read. */
struct reading {
    struct search *search;
    const struct function *function;
    uint32_t place; /* in the list */
    bool is_certain;
    const uint8_t *bytes;
    size_t room; /* bytes up to the end of the range */
    uint32_t size;
    struct step *steps;
    size_t step_count, step_room;
    uint64_t *joins; /* a bit for each byte */
    size_t joins_room;
    uint32_t ways; /* of all that its indirect jumps may lead to; NOWHERE: none are */
    bool has_ways; /* that is known */
    bool has_slot; /* unwind information has been asked */
};

static bool is_within(const struct reading *reading, uint64_t address)
{
    return address - reading->function->address < reading->size;
}

static void join(struct reading *reading, uint64_t address)
{
    uint64_t at = address - reading->function->address;

    if (at < reading->size)
        reading->joins[at / 64] |= 1ull << at % 64;
}

static bool is_joined(const struct reading *reading, uint32_t offset)
{
    return reading->joins[offset / 64] >> offset % 64 & 1;
}

/* ---- ways of indirect jumps */

static uint32_t add_way(struct search *search, struct way way)
{
    search->ways = memory_grow(search->ways, search->way_count, &search->way_room, sizeof(way));
    search->ways[search->way_count] = way;
    return (uint32_t)search->way_count++;
}

static void add_target(struct reading *reading, uint64_t target)
{
    add_way(reading->search,
            (struct way){flow_search_distance(reading->search, target), PLACE_ADDRESS});
    join(reading, target);
}

static const struct flow_table *table_at(const struct reading *reading, uint64_t jump)
{
    const struct flow_registers_scope *scope = reading->search->scope;
    size_t place = partition_point(i, scope->table_count, scope->tables[i].jump < jump);

    return place < scope->table_count ? &scope->tables[place] : NULL;
}

static void add_entries(struct reading *reading, const struct flow_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t target = flow_table_target(reading->search->source, table, i);

        if (target)
            add_target(reading, target);
    }
}

/* Begins the ways of a jump: see struct search. Returns where. */
static uint32_t begin_ways(struct search *search)
{
    return add_way(search, (struct way){0});
}

static void end_ways(struct search *search, uint32_t ways)
{
    search->ways[ways].target = (uint32_t)(search->way_count - ways - 1);
}

/* Addresses within, that words of data hold or code takes. */
static void add_labels(struct reading *reading)
{
    const struct flow_source *source = reading->search->source;
    const struct address_set *taken = &source->map->pointers;
    uint64_t start = reading->function->address, end = reading->function->end;
    size_t word = partition_point(i, source->pointer_count,
                                  source->pointers[source->by_target[i]].target <= start);

    for (; word < source->pointer_count && source->pointers[source->by_target[word]].target < end;
         word++)
        add_target(reading, source->pointers[source->by_target[word]].target);
    for (uint64_t at = address_set_next(taken, start + 1, end); at < end;
         at = address_set_next(taken, at + 1, end))
        add_target(reading, at);
}

/* What an indirect jump that is not told of may lead to within the function: labels, and what is in
   its tables. */
static void find_ways(struct reading *reading)
{
    struct search *search = reading->search;
    const struct flow_registers_scope *scope = search->scope;
    const struct flow_table *table = table_at(reading, reading->function->address);
    uint32_t ways;

    if (reading->has_ways)
        return;
    reading->has_ways = true;
    reading->ways = NOWHERE;
    ways = begin_ways(search);
    for (; table && table < scope->tables + scope->table_count && is_within(reading, table->jump);
         table++)
        add_entries(reading, table);
    add_labels(reading);
    end_ways(search, ways);
    if (search->ways[ways].target)
        reading->ways = ways;
}

/* ---- instructions */

static void settle_jump(struct reading *reading, const struct instruction *at, struct step *step)
{
    bool is_certain = at->flow == FLOW_JUMP;

    step->place = PLACE_ADDRESS;
    step->target = flow_search_distance(reading->search, at->target);
    if (is_within(reading, at->target)) {
        step->kind = is_certain ? BLOCK_JUMP : BLOCK_CONDITION;
        join(reading, at->target);
    } else {
        step->kind = is_certain ? BLOCK_LEAVE : BLOCK_LEAVE_IF;
    }
}

/* Through [rip + n]: a slot that the loader fills in, or a variable. */
static void settle_slot(const struct reading *reading, const struct instruction *at,
                        struct step *step)
{
    const struct flow_import *import =
        at->is_rip_based ? flow_import_at(reading->search->source, at->operand) : NULL;

    if (!import)
        return;
    step->place = PLACE_IMPORT;
    if (import->target) { /* perhaps: another image may have that name, too */
        step->place = PLACE_ADDRESS;
        step->target = flow_search_distance(reading->search, import->target);
        step->uses.reads |= READ_BY_OTHERS;
    }
}

/* Whether unwind information has the return address on top of the stack. It is asked for rising
   addresses. */
static bool check_leaving(struct reading *reading, uint64_t address)
{
    const struct code_unwind *unwind = &reading->search->source->code->unwind;
    struct return_slot slot;

    if (!unwind->begin || !unwind->slot_at)
        return true;
    if (!reading->has_slot)
        unwind->begin(unwind->context, reading->function);
    reading->has_slot = true;
    slot = unwind->slot_at(unwind->context, address);
    return slot.base == RETURN_SLOT_UNKNOWN || (slot.base == RETURN_SLOT_RSP && slot.offset == 0);
}

static uint32_t ways_by_table(struct reading *reading, const struct flow_table *table)
{
    uint32_t ways = begin_ways(reading->search);

    add_entries(reading, table);
    end_ways(reading->search, ways);
    return ways;
}

/* By a table that has another jump, or to a label; or a tail call, if there is nothing of these. */
static void settle_untold_jump(struct reading *reading, const struct instruction *at,
                               struct step *step)
{
    find_ways(reading);
    if (reading->is_certain && reading->ways == NOWHERE)
        return;
    step->place = reading->is_certain ? PLACE_UNKNOWN : PLACE_ANYWHERE;
    if (reading->is_certain && !check_leaving(reading, at->address)) {
        step->kind = BLOCK_TABLE;
        step->target = reading->ways;
    }
}

static void settle_indirect_jump(struct reading *reading, const struct instruction *at,
                                 struct step *step)
{
    const struct flow_table *table = table_at(reading, at->address);

    step->kind = BLOCK_LEAVE;
    step->place = PLACE_POINTER;
    if (at->is_rip_based) {
        settle_slot(reading, at, step);
    } else if (table && table->jump == at->address) {
        step->kind = BLOCK_TABLE;
        step->place = PLACE_UNKNOWN;
        step->target = ways_by_table(reading, table);
    } else {
        settle_untold_jump(reading, at, step);
    }
}

/* What ends all reads nothing; what returns elsewhere, everything. */
static void settle_end(const struct instruction *at, struct step *step)
{
    ZydisMnemonic mnemonic = at->zydis.mnemonic;

    step->kind = mnemonic == ZYDIS_MNEMONIC_RET ? BLOCK_RETURN : BLOCK_STOP;
    if (step->kind == BLOCK_STOP && mnemonic != ZYDIS_MNEMONIC_UD2 &&
        mnemonic != ZYDIS_MNEMONIC_HLT)
        step->uses.reads = REGISTERS_FREE;
}

static void settle_flow(struct reading *reading, const struct instruction *at, const uint8_t *bytes,
                        struct step *step)
{
    switch (at->flow) {
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        settle_jump(reading, at, step);
        break;
    case FLOW_CALL:
        step->kind = BLOCK_CALL;
        step->place = PLACE_ADDRESS;
        step->target = flow_search_distance(reading->search, at->target);
        break;
    case FLOW_INDIRECT_CALL:
        step->kind = BLOCK_CALL;
        step->place = memcmp(bytes, X86_CALL_RAX, 2) == 0 ? PLACE_DESCRIPTOR : PLACE_POINTER;
        settle_slot(reading, at, step);
        break;
    case FLOW_INDIRECT_JUMP:
        settle_indirect_jump(reading, at, step);
        break;
    case FLOW_END:
        settle_end(at, step);
        break;
    case FLOW_UNKNOWN:
        step->uses.reads = REGISTERS_FREE;
        break;
    default:
        break;
    }
}

static bool is_plain_branch(enum flow_kind flow)
{
    return flow == FLOW_JUMP || flow == FLOW_CONDITION || flow == FLOW_CALL || flow == FLOW_END;
}

/* lea reg, [rip + n] */
static struct flow_uses lea_uses(const uint8_t *bytes)
{
    unsigned reg = (bytes[2] >> 3 & 7) | (bytes[0] & 4 ? 8u : 0);

    return (struct flow_uses){0, (uint16_t)(1u << reg) & REGISTERS_FREE};
}

/* Decodes in full what is rare; false if it is no instruction. */
static bool read_other(struct reading *reading, struct instruction *at, const uint8_t *bytes,
                       size_t room, struct step *step)
{
    struct search *search = reading->search;

    if (!instruction_decode(&search->decoder, at->address, bytes, room, at))
        return false;
    if (at->flow != FLOW_END && !instruction_is_padding(at))
        step->uses = flow_uses_decode(&search->full_decoder, bytes, room);
    settle_flow(reading, at, bytes, step);
    return true;
}

static bool read_step(struct reading *reading, struct instruction *at, struct step *step)
{
    const uint8_t *bytes = reading->bytes + step->offset;
    size_t room = reading->room - step->offset;

    if (room < PLAIN_ROOM)
        return read_other(reading, at, bytes, room, step);
    at->length = (uint8_t)plain_length(bytes, 0);
    if (at->length && flow_uses_plain(bytes, &step->uses))
        return true;
    step->uses = (struct flow_uses){0};
    if (memcmp(bytes, X86_ENDBR64, 4) == 0) {
        at->length = 4;
        return true;
    }
    if (at->length || !plain_decode(at->address, bytes, at))
        return read_other(reading, at, bytes, room, step);
    at->zydis.mnemonic = ZYDIS_MNEMONIC_RET; /* if it ends anything */
    if (at->is_lea)
        step->uses = lea_uses(bytes);
    else if (is_plain_branch(at->flow))
        settle_flow(reading, at, bytes, step);
    return true;
}

static bool read_steps(struct reading *reading)
{
    struct instruction at;

    reading->step_count = 0;
    for (uint32_t offset = 0; offset < reading->size; offset += at.length) {
        struct step step = {.offset = offset};

        at.address = reading->function->address + offset;
        if (!read_step(reading, &at, &step))
            return false;
        reading->steps = memory_grow(reading->steps, reading->step_count, &reading->step_room,
                                     sizeof(*reading->steps));
        reading->steps[reading->step_count++] = step;
    }
    return true;
}

/* ---- blocks */

static void join_branches(struct reading *reading)
{
    const struct code_map *map = reading->search->source->map;
    uint64_t end = reading->function->end;

    for (size_t i = code_map_branches_from(map, reading->function->address + 1);
         i < map->branch_count && map->branches[i].target < end; i++)
        join(reading, map->branches[i].target);
}

static void add_block(struct reading *reading, const struct step *step)
{
    struct search *search = reading->search;

    search->blocks = memory_grow(search->blocks, search->block_count, &search->block_room,
                                 sizeof(*search->blocks));
    search->blocks[search->block_count++] = (struct block){
        .offset = flow_search_distance(search, reading->function->address) + step->offset};
}

static void add_step(struct reading *reading, const struct step *step)
{
    struct search *search = reading->search;
    struct block *block = &search->blocks[search->block_count - 1];

    block->reads |= step->uses.reads & ~block->writes;
    block->writes |= step->uses.writes;
    block->kind = step->kind;
    block->place = step->place;
    block->target = step->target;
}

static bool is_apart(const struct reading *reading, uint8_t kind)
{
    return is_site(kind) || (kind == BLOCK_RETURN && reading->search->scope->keeps_blocks);
}

static void make_blocks(struct reading *reading)
{
    struct body *body = &reading->search->bodies[reading->place];
    uint8_t last = BLOCK_STOP;

    body->first = (uint32_t)reading->search->block_count;
    for (size_t i = 0; i < reading->step_count; i++) {
        const struct step *step = &reading->steps[i];

        if (last != BLOCK_ON || is_apart(reading, step->kind) || is_joined(reading, step->offset))
            add_block(reading, step);
        add_step(reading, step);
        body->given |= step->uses.reads & ~body->written;
        body->written |= step->uses.writes;
        body->is_vague |= step->place == PLACE_ANYWHERE;
        last = step->kind;
    }
    body->end = (uint32_t)reading->search->block_count;
    body->is_compiled = reading->function->unwind != 0;
}

/* False if there is none that could be read. */
static bool begin_function(struct reading *reading)
{
    const struct function *function = reading->function;
    size_t words;

    reading->bytes = code_at(reading->search->source->code, function->address, &reading->room);
    if (!reading->bytes || function->end <= function->address ||
        function->end - function->address > reading->room ||
        flow_search_distance(reading->search, function->end) == NOWHERE ||
        reading->search->block_count > MOST_BLOCKS)
        return false;
    reading->size = (uint32_t)(function->end - function->address);
    words = reading->size / 64 + 1;
    if (words > reading->joins_room) {
        free(reading->joins);
        reading->joins = memory_zeroed(words, sizeof(*reading->joins));
        reading->joins_room = words;
    }
    memset(reading->joins, 0, words * sizeof(*reading->joins));
    return true;
}

static void read_function(struct reading *reading)
{
    if (!begin_function(reading))
        return;
    reading->has_slot = reading->has_ways = false;
    join_branches(reading);
    if (read_steps(reading))
        make_blocks(reading);
}

/* Whether another begins within a function. */
static bool is_overlapped(const struct function_list *functions, const struct function *function)
{
    const struct function *last = function_list_owner(functions, function->end - 1);

    return last != function;
}

/* All instructions of what is not certain are known, at least, if it came from a compiler, and so
   is where each goes on but for indirect jumps. Else it would be taken to need whatever there is
   where something returns to it; and so would what that calls, and so on. */
static bool is_orderly(const struct search *search, const struct function *function)
{
    struct flow_body body;
    enum flow_doubt doubt;

    if (!function->unwind || function->is_import || function->reason == PATCH_PLT ||
        function->reason == PATCH_INSIDE_FUNCTION || function->end <= function->address ||
        is_overlapped(search->functions, function))
        return false;
    doubt = flow_body_read(&body, search->source, function);
    flow_body_free(&body);
    return doubt == FLOW_CERTAIN || doubt == FLOW_FLAGS;
}

void flow_search_read(struct search *search)
{
    struct reading reading = {.search = search};

    for (size_t i = 0; i < search->functions->count; i++) {
        search->bodies[i].first = search->bodies[i].end = (uint32_t)search->block_count;
        reading.function = &search->functions->items[i];
        reading.place = (uint32_t)i;
        reading.is_certain = search->scope->doubts[i] == FLOW_CERTAIN;
        if (reading.is_certain || is_orderly(search, reading.function))
            read_function(&reading);
    }
    free(reading.steps);
    free(reading.joins);
}
