/*
 * Blocks of instructions, from all functions, and what each reads before it writes it; then, round
 * by round, from what is alive behind a block to what is alive in front of it. Sets only grow, so
 * it ends. A call, and a jump that leaves its function, is a block of its own.
 */
#include "rewriter/flow/flow_registers.h"

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_body.h"
#include "rewriter/flow/flow_imports.h"
#include "rewriter/flow/flow_uses.h"
#include "support/memory.h"
#include "support/sorted.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_AT_HOME 64  /* through one function, after which all is alive in it */
#define ROUNDS         128 /* through all, on average */

#define MOST_BLOCKS (1u << 27)
#define FARTHEST    (UINT32_MAX - 1) /* from the first byte of code */
#define NOWHERE     UINT32_MAX

/* r10 and r11 are nobody's arguments; but a pointer may be called with a static chain in r10. */
#define READ_BY_OTHERS (REGISTERS_FREE & ~(REGISTER_R10 | REGISTER_R11))

/*
 * Two sets of registers in one: those that are alive, if nothing is where the function returns,
 * and, in the upper half, those that are if all are. If some are alive there:
 *
 *      alive = lower | (upper & alive where it returns)
 *
 * as each register goes its own way. So what one caller needs is not asked of another.
 */
#define ALIKE(set) ((uint32_t)(set)*0x10001u)
#define AT_RETURN  ((uint32_t)REGISTERS_FREE << 16)

/* What a caller that is not known may read behind a call. Of rsi and rdi that is so in functions of
   Windows' ABI (ms_abi), which keep them. */
#define RETURNED (REGISTER_RAX | REGISTER_RDX | REGISTER_RSI | REGISTER_RDI)

#define X86_ENDBR64   "\xf3\x0f\x1e\xfa"
#define X86_CALL      0xe8
#define X86_JUMP      0xe9
#define X86_SHORT     0xeb
#define X86_TWO_BYTES 0x0f
#define X86_GROUP     0xff
#define X86_CALL_RAX  "\xff\x10" /* call [rax] */

enum block_kind {
    BLOCK_ON,        /* to the next */
    BLOCK_JUMP,      /* within the function */
    BLOCK_CONDITION, /* likewise, or on */
    BLOCK_TABLE,     /* to one of some ways */
    BLOCK_RETURN,
    BLOCK_STOP,
    /* sites: */
    BLOCK_CALL,
    BLOCK_LEAVE,
    BLOCK_LEAVE_IF, /* or on */
};

/* What a block leads to; `target` of a block, or of a way, is its index. */
enum place {
    PLACE_UNKNOWN,    /* reads all */
    PLACE_BLOCK,      /* of the same function */
    PLACE_MIDDLE,     /* a block of another */
    PLACE_FUNCTION,   /* one that is certain */
    PLACE_OWN_IMPORT, /* likewise, or what another image has of its name */
    PLACE_IMPORT,
    PLACE_POINTER,
    PLACE_ANYWHERE,   /* likewise: in the same function, most likely */
    PLACE_DESCRIPTOR, /* perhaps thread-local storage's, which keeps all but rax */
    PLACE_ADDRESS,    /* not looked up yet: `target` is a distance from the first byte of code */
};

struct block {
    uint32_t offset; /* from the first byte of code */
    uint32_t target;
    uint32_t alive; /* in front of it */
    uint16_t reads, writes;
    uint8_t kind, place;
};

/* Of a jump by a table, or by all that a function has. */
struct way {
    uint32_t target;
    uint8_t place;
};

struct step {
    uint32_t offset; /* in the function */
    uint32_t target; /* as of a block */
    struct flow_uses uses;
    uint8_t kind, place;
};

struct body {
    uint32_t first, end; /* its blocks; none if it was not read */
    uint16_t returned;   /* alive at its returns */
    uint32_t entry;      /* alive where it is called */
    uint16_t written;    /* by some instruction */
    uint16_t given;      /* read in it, and written by no instruction that stands above */
    bool is_compiled;    /* not assembly, most likely */
    bool is_vague;       /* has a jump that may lead anywhere in it */
    bool is_joined;      /* others jump into its middle */
    bool is_waiting;
};

struct search {
    const struct flow_registers_scope *scope;
    const struct flow_source *source;
    const struct function_list *functions;
    uint64_t base;
    ZydisDecoder decoder, full_decoder;
    struct body *bodies; /* of each function */
    struct block *blocks;
    size_t block_count, block_room;
    /* Ways of a block begin at its target with one whose target is their number. */
    struct way *ways;
    size_t way_count, way_room;
    /* Who leads into each function: users[first_user[i]] and so on, up to the next one's. */
    uint32_t *first_user, *users;
    uint32_t *waiting; /* a ring of all functions */
    size_t waiting_first, waiting_count;
    int64_t work_left; /* blocks and ways to look at */
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

static uint32_t distance(const struct search *search, uint64_t address)
{
    return address - search->base < FARTHEST ? (uint32_t)(address - search->base) : NOWHERE;
}

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
    search->ways = memory_grow(search->ways, search->way_count, &search->way_room, sizeof way);
    search->ways[search->way_count] = way;
    return (uint32_t)search->way_count++;
}

static void add_target(struct reading *reading, uint64_t target)
{
    add_way(reading->search, (struct way){distance(reading->search, target), PLACE_ADDRESS});
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

/* Where ways of a jump begin: see struct search. */
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
    step->target = distance(reading->search, at->target);
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
    const struct flow_pointer *import =
        at->is_rip_based ? flow_import_at(reading->search->source, at->operand) : NULL;

    if (!import)
        return;
    step->place = PLACE_IMPORT;
    if (import->target) { /* perhaps: another image may have that name, too */
        step->place = PLACE_ADDRESS;
        step->target = distance(reading->search, import->target);
        step->uses.reads |= READ_BY_OTHERS;
    }
}

/* Whether unwind information has the return address on top of the stack. It is asked for rising
   addresses. */
static bool may_leave(struct reading *reading, uint64_t address)
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
    if (reading->is_certain && !may_leave(reading, at->address)) {
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
        step->target = distance(reading->search, at->target);
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
                                     sizeof *reading->steps);
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

static bool is_site(uint8_t kind)
{
    return kind >= BLOCK_CALL;
}

static void add_block(struct reading *reading, const struct step *step)
{
    struct search *search = reading->search;

    search->blocks = memory_grow(search->blocks, search->block_count, &search->block_room,
                                 sizeof *search->blocks);
    search->blocks[search->block_count++] =
        (struct block){.offset = distance(search, reading->function->address) + step->offset};
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

static void make_blocks(struct reading *reading)
{
    struct body *body = &reading->search->bodies[reading->place];
    uint8_t last = BLOCK_STOP;

    body->first = (uint32_t)reading->search->block_count;
    for (size_t i = 0; i < reading->step_count; i++) {
        const struct step *step = &reading->steps[i];

        if (last != BLOCK_ON || is_site(step->kind) || is_joined(reading, step->offset))
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

/* The block of a function that begins at a distance from the first byte of code; NOWHERE if none
   does. */
static uint32_t block_at(const struct search *search, const struct body *body, uint32_t offset)
{
    const struct block *blocks = search->blocks + body->first;
    size_t place = partition_point(i, body->end - body->first, blocks[i].offset < offset);

    return place < body->end - body->first && blocks[place].offset == offset
               ? body->first + (uint32_t)place
               : NOWHERE;
}

/* False if there is none that could be read. */
static bool begin_function(struct reading *reading)
{
    const struct function *function = reading->function;
    size_t words;

    reading->bytes = code_at(reading->search->source->code, function->address, &reading->room);
    if (!reading->bytes || function->end <= function->address ||
        function->end - function->address > reading->room ||
        distance(reading->search, function->end) == NOWHERE ||
        reading->search->block_count > MOST_BLOCKS)
        return false;
    reading->size = (uint32_t)(function->end - function->address);
    words = reading->size / 64 + 1;
    if (words > reading->joins_room) {
        free(reading->joins);
        reading->joins = memory_zeroed(words, sizeof *reading->joins);
        reading->joins_room = words;
    }
    memset(reading->joins, 0, words * sizeof *reading->joins);
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

/*
 * Of what is not certain all instructions are known, at least, if it came from a compiler, and so
 * is where each goes on but for indirect jumps. Else it would be taken to need whatever there is
 * where something returns to it; and so would what that calls, and so on.
 */
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

static void read_functions(struct search *search)
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

/* ---- where blocks lead */

static bool is_read(const struct search *search, const struct function *function)
{
    const struct body *body = &search->bodies[function - search->functions->items];

    return body->first != body->end;
}

/* Of the image's own code, or a stub that leads out of it. */
static void look_up_function(const struct search *search, uint64_t address, uint32_t *target,
                             uint8_t *place)
{
    const struct function *function = function_list_owner(search->functions, address);
    struct body *body;

    *place = PLACE_UNKNOWN;
    if (!function || address >= function->end || !is_read(search, function))
        return;
    body = &search->bodies[function - search->functions->items];
    *target = (uint32_t)(function - search->functions->items);
    *place = PLACE_FUNCTION;
    if (address == function->address)
        return;
    *target = block_at(search, body, (uint32_t)(address - search->base));
    *place = *target == NOWHERE ? PLACE_UNKNOWN : PLACE_MIDDLE;
    body->is_joined = true;
}

static void look_up(const struct search *search, uint32_t *target, uint8_t *place)
{
    uint64_t address = search->base + *target;
    uint64_t slot = flow_stub_slot(search->source, &search->decoder, address);
    const struct flow_pointer *import = slot ? flow_import_at(search->source, slot) : NULL;

    *place = PLACE_IMPORT;
    if (!slot) {
        look_up_function(search, address, target, place);
    } else if (import && import->target) {
        look_up_function(search, import->target, target, place);
        *place = *place == PLACE_FUNCTION ? PLACE_OWN_IMPORT : PLACE_UNKNOWN;
    }
}

static void look_up_within(const struct search *search, const struct body *body, uint32_t *target,
                           uint8_t *place)
{
    uint32_t block = block_at(search, body, *target);

    if (block == NOWHERE) {
        look_up(search, target, place);
        return;
    }
    *target = block;
    *place = PLACE_BLOCK;
}

static void look_up_ways(struct search *search, const struct body *body, uint32_t ways)
{
    for (uint32_t i = 1; i <= search->ways[ways].target; i++) {
        struct way *way = &search->ways[ways + i];

        if (way->place == PLACE_ADDRESS)
            look_up_within(search, body, &way->target, &way->place);
    }
}

static void look_up_all(struct search *search)
{
    for (size_t i = 0; i < search->functions->count; i++) {
        const struct body *body = &search->bodies[i];

        for (uint32_t j = body->first; j < body->end; j++) {
            struct block *block = &search->blocks[j];

            if (block->kind == BLOCK_TABLE)
                look_up_ways(search, body, block->target);
            else if (block->place == PLACE_ADDRESS && !is_site(block->kind))
                look_up_within(search, body, &block->target, &block->place);
            else if (block->place == PLACE_ADDRESS)
                look_up(search, &block->target, &block->place);
        }
    }
}

/* ---- who leads to whom */

/* The function that a block or a way leads to; the function count if it leads to none. */
static size_t function_of(const struct search *search, uint32_t target, uint8_t place)
{
    size_t count = search->functions->count;

    if (place == PLACE_FUNCTION || place == PLACE_OWN_IMPORT)
        return target;
    if (place != PLACE_MIDDLE)
        return count;
    /* Functions that were not read have no block, where one that was begins. */
    return partition_point(i, count, search->bodies[i].end <= target);
}

/* Counts a use, or, if there is room for it, notes it. */
static void note_user(struct search *search, size_t function, uint32_t user)
{
    if (function == search->functions->count)
        return;
    if (search->users)
        search->users[--search->first_user[function]] = user;
    else
        search->first_user[function]++;
}

static void note_users_by(struct search *search, uint32_t user, const struct block *block)
{
    const struct way *ways;

    if (block->kind != BLOCK_TABLE) {
        note_user(search, function_of(search, block->target, block->place), user);
        return;
    }
    ways = &search->ways[block->target];
    for (uint32_t i = 1; i <= ways->target; i++)
        note_user(search, function_of(search, ways[i].target, ways[i].place), user);
}

static void note_users(struct search *search)
{
    for (uint32_t i = 0; i < search->functions->count; i++)
        for (uint32_t j = search->bodies[i].first; j < search->bodies[i].end; j++)
            note_users_by(search, i, &search->blocks[j]);
}

static void find_users(struct search *search)
{
    size_t count = search->functions->count;

    search->first_user = memory_zeroed(count + 1, sizeof *search->first_user);
    note_users(search);
    for (size_t i = 1; i <= count; i++)
        search->first_user[i] += search->first_user[i - 1];
    search->users = memory_zeroed((size_t)search->first_user[count] + 1, sizeof *search->users);
    note_users(search);
}

/* ---- code that is not looked through, and may call what is */

static void expect_all_at(struct search *search, uint64_t address)
{
    const struct function *function = function_list_owner(search->functions, address);

    if (function && address < function->end)
        search->bodies[function - search->functions->items].returned = REGISTERS_FREE;
}

static void expect_all_of_slot(struct search *search, uint64_t slot)
{
    const struct flow_pointer *import = flow_import_at(search->source, slot);

    if (import && import->target)
        expect_all_at(search, import->target);
}

static void expect_all(struct search *search, uint64_t target)
{
    uint64_t slot;

    if (distance(search, target) == NOWHERE)
        return;
    slot = flow_stub_slot(search->source, &search->decoder, target);
    if (slot)
        expect_all_of_slot(search, slot);
    else
        expect_all_at(search, target);
}

static bool is_condition(const uint8_t *bytes)
{
    return bytes[0] == X86_TWO_BYTES && (bytes[1] & 0xf0) == 0x80;
}

static bool is_short(const uint8_t *bytes)
{
    return bytes[0] == X86_SHORT || (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xfc) == 0xe0;
}

static bool is_by_slot(const uint8_t *bytes)
{
    return bytes[0] == X86_GROUP && (bytes[1] == 0x15 || bytes[1] == 0x25);
}

static int32_t number_at(const uint8_t *bytes)
{
    int32_t number;

    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Bytes of code that is not looked through. */
struct gap {
    struct search *search;
    uint64_t start, end;
    const uint8_t *bytes;
    size_t room; /* bytes up to the end of the range */
    bool is_linkage;
};

/* Whatever could begin a branch is taken for one: there may be data between the code. */
static void scan_at(const struct gap *gap, uint64_t address)
{
    const uint8_t *bytes = gap->bytes + (address - gap->start);
    size_t room = gap->room - (address - gap->start);
    uint64_t target;

    if (room >= 2 && is_short(bytes)) {
        target = address + 2 + (uint64_t)(int8_t)bytes[1];
        if (target - gap->start >= gap->end - gap->start)
            expect_all(gap->search, target);
    } else if (room >= 5 && (*bytes == X86_CALL || *bytes == X86_JUMP)) {
        expect_all(gap->search, address + 5 + (uint64_t)number_at(bytes + 1));
    } else if (room >= 6 && is_condition(bytes)) {
        expect_all(gap->search, address + 6 + (uint64_t)number_at(bytes + 2));
    } else if (room >= 6 && is_by_slot(bytes) && !gap->is_linkage) {
        expect_all_of_slot(gap->search, address + 6 + (uint64_t)number_at(bytes + 2));
    }
}

/* Of one range. The jumps of a procedure linkage table are left out: it is others that use them. */
static void scan_gap(struct search *search, uint64_t start, uint64_t end)
{
    const struct function_list *functions = search->functions;
    struct gap gap = {.search = search, .start = start, .end = end};
    size_t above = partition_point(i, functions->count, functions->items[i].address <= start);

    gap.bytes = code_at(search->source->code, start, &gap.room);
    for (uint64_t at = start; at < end && gap.bytes; at++) {
        while (above < functions->count && functions->items[above].address <= at)
            above++;
        gap.is_linkage = above && functions->items[above - 1].reason == PATCH_PLT;
        scan_at(&gap, at);
    }
}

static void scan_rest(struct search *search)
{
    const struct code *code = search->source->code;
    size_t next = 0;

    for (size_t i = 0; i < code->range_count; i++) {
        uint64_t at = code->ranges[i].address, end = at + code->ranges[i].size;

        for (; next < search->functions->count && search->functions->items[next].address < end;
             next++) {
            const struct function *function = &search->functions->items[next];

            if (function->address < at || !is_read(search, function))
                continue;
            scan_gap(search, at, function->address);
            at = function->end;
        }
        scan_gap(search, at, end);
    }
}

/* ---- what is alive */

static void wake(struct search *search, size_t function)
{
    struct body *body = &search->bodies[function];
    size_t count = search->functions->count;

    if (body->is_waiting || body->first == body->end)
        return;
    body->is_waiting = true;
    search->waiting[(search->waiting_first + search->waiting_count++) % count] = (uint32_t)function;
}

/* In front of what leads to code that goes on, when it returns, with `behind`. */
static uint32_t through(uint32_t entry, uint32_t behind)
{
    return ALIKE(entry & REGISTERS_FREE) | (ALIKE(entry >> 16) & behind);
}

/* Where a block or a way leads; behind: when that returns. */
static uint32_t alive_at(const struct search *search, uint32_t target, uint8_t place,
                         uint32_t behind)
{
    switch (place) {
    case PLACE_BLOCK:
        return search->blocks[target].alive;
    case PLACE_OWN_IMPORT:
        return ALIKE(READ_BY_OTHERS) | through(search->bodies[target].entry, behind);
    case PLACE_FUNCTION:
        return through(search->bodies[target].entry, behind);
    case PLACE_MIDDLE:
        return through(search->blocks[target].alive, behind);
    case PLACE_IMPORT:
        return ALIKE(READ_BY_OTHERS);
    default:
        return ALIKE(REGISTERS_FREE);
    }
}

static uint32_t alive_by_ways(struct search *search, uint32_t first)
{
    const struct way *ways = &search->ways[first];
    uint32_t alive = 0;

    search->work_left -= ways->target;
    if (search->work_left < 0)
        return ALIKE(REGISTERS_FREE);
    for (uint32_t i = 1; i <= ways->target; i++)
        alive |= alive_at(search, ways[i].target, ways[i].place, AT_RETURN);
    return alive;
}

/* Where a block leads that is a call or a jump by a pointer, or may be. */
static uint32_t alive_by_pointer(const struct body *body, const struct block *block,
                                 uint32_t behind)
{
    /* A static chain, for nested functions, which compilers put there before each call. */
    uint16_t chain = body->is_compiled ? body->written & REGISTER_R10 : REGISTER_R10;

    return ALIKE(READ_BY_OTHERS | chain) | (block->place == PLACE_DESCRIPTOR ? behind : 0);
}

/* Where a block ends; next: where the next begins. */
static uint32_t alive_behind(struct search *search, const struct body *body,
                             const struct block *block, uint32_t next)
{
    if (block->place == PLACE_POINTER || block->place == PLACE_DESCRIPTOR)
        return alive_by_pointer(body, block, next);
    switch (block->kind) {
    case BLOCK_ON:
        return next;
    case BLOCK_CALL:
        return alive_at(search, block->target, block->place, next);
    case BLOCK_CONDITION:
    case BLOCK_LEAVE_IF:
        return next | alive_at(search, block->target, block->place, AT_RETURN);
    case BLOCK_JUMP:
    case BLOCK_LEAVE:
        return alive_at(search, block->target, block->place, AT_RETURN);
    case BLOCK_TABLE:
        return alive_by_ways(search, block->target);
    case BLOCK_RETURN:
        return AT_RETURN;
    default:
        return 0;
    }
}

/* What is read does not go on behind its end: a call there does not return. */
static uint32_t next_of(const struct search *search, const struct body *body, uint32_t index)
{
    return index + 1 < body->end ? search->blocks[index + 1].alive : 0;
}

/* Once through a function, from its end to its start; whether more is alive than was known. */
static bool pass(struct search *search, struct body *body)
{
    bool has_grown = false;

    search->work_left -= body->end - body->first;
    for (uint32_t i = body->end; i-- > body->first;) {
        struct block *block = &search->blocks[i];
        uint32_t behind = alive_behind(search, body, block, next_of(search, body, i));
        uint32_t alive = (behind & ~ALIKE(block->writes)) | ALIKE(block->reads);

        has_grown |= (alive & ~block->alive) != 0;
        block->alive |= alive;
    }
    return has_grown;
}

/* Likewise, until nothing grows any more. */
static bool settle_at_home(struct search *search, struct body *body)
{
    unsigned rounds = 0;

    while (rounds < ROUNDS_AT_HOME && pass(search, body))
        rounds++;
    for (uint32_t i = body->first; rounds == ROUNDS_AT_HOME && i < body->end; i++)
        search->blocks[i].alive = ALIKE(REGISTERS_FREE);
    return rounds > 0;
}

/*
 * Alive where a function is called. If a jump in it may lead anywhere, all is alive there, and, as
 * nobody has written r10 and r11 by then, these would be alive in whoever calls it, too. But
 * compilers give nothing to a function in r10 or r11, except for a static chain, which is read
 * before anything else comes into that register.
 */
static uint32_t entry_of(const struct search *search, const struct body *body)
{
    uint32_t entry = search->blocks[body->first].alive;

    if (body->is_vague)
        entry &= ~(uint32_t)(REGISTER_R10 | REGISTER_R11) | body->given;
    return entry;
}

static void settle(struct search *search, size_t function)
{
    struct body *body = &search->bodies[function];
    bool has_grown = settle_at_home(search, body);
    uint32_t entry = entry_of(search, body);

    if (entry == body->entry && !(body->is_joined && has_grown))
        return;
    body->entry |= entry;
    for (uint32_t i = search->first_user[function]; i < search->first_user[function + 1]; i++)
        wake(search, search->users[i]);
}

/* ---- what is to be alive where functions return */

static uint16_t alive_if(uint32_t alive, uint16_t returned)
{
    return (uint16_t)(alive | (alive >> 16 & returned));
}

static void expect(struct search *search, uint32_t target, uint8_t place, uint16_t returned)
{
    size_t function = function_of(search, target, place);
    struct body *body = &search->bodies[function];

    if (function == search->functions->count || !(returned & ~body->returned))
        return;
    body->returned |= returned;
    wake(search, function);
}

static void expect_by_ways(struct search *search, uint32_t first, uint16_t returned)
{
    const struct way *ways = &search->ways[first];

    search->work_left -= ways->target;
    for (uint32_t i = 1; i <= ways->target; i++)
        expect(search, ways[i].target, ways[i].place, returned);
}

/* A function tells those that it leads to. */
static void tell(struct search *search, size_t function)
{
    const struct body *body = &search->bodies[function];

    search->work_left -= body->end - body->first;
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct block *block = &search->blocks[i];
        uint16_t returned = body->returned;

        if (block->kind == BLOCK_CALL)
            returned = alive_if(next_of(search, body, i), returned);
        if (block->kind == BLOCK_TABLE)
            expect_by_ways(search, block->target, returned);
        else
            expect(search, block->target, block->place, returned);
    }
}

/* ---- until nothing grows any more */

/* False if that takes too much. */
static bool visit_all(struct search *search, void (*visit)(struct search *search, size_t function))
{
    size_t count = search->functions->count;

    search->work_left = ((int64_t)search->block_count + (int64_t)search->way_count) * ROUNDS;
    for (size_t i = count; i-- > 0;)
        wake(search, i);
    while (search->waiting_count) {
        uint32_t function = search->waiting[search->waiting_first];

        if (search->work_left < 0)
            return false;
        search->waiting_first = (search->waiting_first + 1) % count;
        search->waiting_count--;
        search->bodies[function].is_waiting = false;
        visit(search, function);
    }
    return true;
}

/* ---- what comes of it */

static void keep_site(struct flow_registers *registers, struct search *search, size_t function,
                      uint32_t index)
{
    const struct body *body = &search->bodies[function];
    const struct block *block = &search->blocks[index];
    uint16_t dead = REGISTERS_FREE & ~alive_if(block->alive, body->returned), at_target = dead;

    if (block->kind == BLOCK_LEAVE_IF)
        at_target =
            REGISTERS_FREE &
            ~alive_if(alive_at(search, block->target, block->place, AT_RETURN), body->returned);
    if (!at_target)
        return;
    registers->sites =
        memory_grow(registers->sites, registers->count, &registers->room, sizeof *registers->sites);
    registers->sites[registers->count++] =
        (struct flow_register_site){block->offset, dead, at_target};
}

static void keep_sites(struct flow_registers *registers, struct search *search)
{
    for (size_t i = 0; i < search->functions->count; i++)
        for (uint32_t j = search->bodies[i].first; j < search->bodies[i].end; j++)
            if (is_site(search->blocks[j].kind))
                keep_site(registers, search, i, j);
}

static void begin(struct search *search)
{
    size_t count = search->functions->count;

    decoder_init(&search->decoder);
    ZydisDecoderInit(&search->full_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    search->base = search->source->code->ranges[0].address;
    search->bodies = memory_zeroed(count, sizeof *search->bodies);
    for (size_t i = 0; i < count; i++)
        search->bodies[i].returned = RETURNED;
}

static void end(struct search *search)
{
    free(search->bodies);
    free(search->blocks);
    free(search->ways);
    free(search->first_user);
    free(search->users);
    free(search->waiting);
}

void flow_registers_find(struct flow_registers *registers, const struct flow_registers_scope *scope)
{
    struct search search = {
        .scope = scope, .source = scope->source, .functions = scope->source->functions};

    *registers = (struct flow_registers){0};
    if (!scope->source->code->range_count || !search.functions->count)
        return;
    begin(&search);
    registers->base = search.base;
    read_functions(&search);
    look_up_all(&search);
    find_users(&search);
    scan_rest(&search);
    search.waiting = memory_zeroed(search.functions->count, sizeof *search.waiting);
    if (visit_all(&search, settle) && visit_all(&search, tell))
        keep_sites(registers, &search);
    end(&search);
}

void flow_registers_free(struct flow_registers *registers)
{
    free(registers->sites);
    *registers = (struct flow_registers){0};
}

static const struct flow_register_site *site_at(const struct flow_registers *registers,
                                                uint64_t address)
{
    uint64_t offset = address - registers->base;
    size_t place = partition_point(i, registers->count, registers->sites[i].offset < offset);

    return place < registers->count && registers->sites[place].offset == offset
               ? &registers->sites[place]
               : NULL;
}

uint16_t flow_registers_dead(const struct flow_registers *registers, uint64_t address)
{
    const struct flow_register_site *site = site_at(registers, address);

    return site ? site->dead : 0;
}

uint16_t flow_registers_dead_taken(const struct flow_registers *registers, uint64_t address)
{
    const struct flow_register_site *site = site_at(registers, address);

    return site ? site->at_target : 0;
}
