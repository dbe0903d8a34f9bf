/*
 * Blocks of instructions, from all functions, and what each reads before it writes it; then, round
 * by round, from what is alive behind a block to what is alive in front of it. Sets only grow, so
 * it ends. A call, and a jump that leaves its function, is a block of its own.
 */
#include "rewriter/flow/flow_registers.h"

#include <stdlib.h>

#include "rewriter/flow/flow_search.h"
#include "support/memory.h"
#include "support/sorted.h"

#define ROUNDS_AT_HOME 64  /* through one function, after which all is alive in it */
#define ROUNDS         128 /* through all, on average */

/* What a caller that is not known may read behind a call. Of rsi and rdi that is so in functions of
   Windows' ABI (ms_abi), which keep them. */
#define RETURNED (REGISTER_RAX | REGISTER_RDX | REGISTER_RSI | REGISTER_RDI)

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

/* What is alive where a block or a way leads; behind: when that returns. */
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

/* What is alive where a block leads that is a call or a jump by a pointer, or may be. */
static uint32_t alive_by_pointer(const struct body *body, const struct block *block,
                                 uint32_t behind)
{
    /* A static chain, for nested functions, which compilers put there before each call. */
    uint16_t chain = body->is_compiled ? body->written & REGISTER_R10 : REGISTER_R10;

    return ALIKE(READ_BY_OTHERS | chain) | (block->place == PLACE_DESCRIPTOR ? behind : 0);
}

/* What is alive where a block ends; next: where the next begins. */
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

/* Passes through a function until nothing grows any more; whether anything did. */
static bool settle_at_home(struct search *search, struct body *body)
{
    unsigned rounds = 0;

    if (!body->has_loop)
        return pass(search, body);
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
    size_t function = flow_search_function_of(search, target, place);
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
    registers->sites = memory_grow(registers->sites, registers->count, &registers->room,
                                   sizeof(*registers->sites));
    registers->sites[registers->count++] =
        (struct flow_register_site){block->offset, dead, at_target};
}

static void keep_sites(struct flow_registers *registers, struct search *search)
{
    for (size_t i = 0; i < search->functions->count; i++)
        for (uint32_t j = search->bodies[i].first; j < search->bodies[i].end; j++)
            if (search->scope->keeps_blocks || is_site(search->blocks[j].kind))
                keep_site(registers, search, i, j);
}

static void begin(struct search *search)
{
    size_t count = search->functions->count;

    decoder_init(&search->decoder, &processor_x86_64);
    ZydisDecoderInit(&search->full_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    search->base = search->source->code->ranges[0].address;
    search->bodies = memory_zeroed(count, sizeof(*search->bodies));
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
    flow_search_read(&search);
    flow_search_link(&search);
    search.waiting = memory_zeroed(search.functions->count, sizeof(*search.waiting));
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
