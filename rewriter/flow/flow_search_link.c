#include "rewriter/flow/flow_search.h"

#include <string.h>

#include "rewriter/flow/flow_imports.h"
#include "rewriter/flow/flow_registers.h"
#include "rewriter/flow/flow_uses.h"
#include "support/memory.h"
#include "support/sorted.h"

#define X86_CALL      0xe8
#define X86_JUMP      0xe9
#define X86_SHORT     0xeb
#define X86_TWO_BYTES 0x0f
#define X86_GROUP     0xff

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

/* ---- where blocks lead */

static bool is_read(const struct search *search, const struct function *function)
{
    const struct body *body = &search->bodies[function - search->functions->items];

    return body->first != body->end;
}

/* Finds a function of the image's own code, or a stub that leads out of it. */
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
    const struct flow_import *import = slot ? flow_import_at(search->source, slot) : NULL;

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

/* Whether a block, whose target has been looked up, leads back in its function, or may. */
static bool is_loop(const struct body *body, uint32_t index, const struct block *block)
{
    return block->kind == BLOCK_TABLE ||
           ((block->place == PLACE_BLOCK || block->place == PLACE_MIDDLE) &&
            block->target >= body->first && block->target <= index);
}

static void look_up_all(struct search *search)
{
    for (size_t i = 0; i < search->functions->count; i++) {
        struct body *body = &search->bodies[i];

        for (uint32_t j = body->first; j < body->end; j++) {
            struct block *block = &search->blocks[j];

            if (block->kind == BLOCK_TABLE)
                look_up_ways(search, body, block->target);
            else if (block->place == PLACE_ADDRESS && !is_site(block->kind))
                look_up_within(search, body, &block->target, &block->place);
            else if (block->place == PLACE_ADDRESS)
                look_up(search, &block->target, &block->place);
            body->has_loop |= is_loop(body, j, block);
        }
    }
}

/* ---- who leads to whom */

size_t flow_search_function_of(const struct search *search, uint32_t target, uint8_t place)
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
        note_user(search, flow_search_function_of(search, block->target, block->place), user);
        return;
    }
    ways = &search->ways[block->target];
    for (uint32_t i = 1; i <= ways->target; i++)
        note_user(search, flow_search_function_of(search, ways[i].target, ways[i].place), user);
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

    search->first_user = memory_zeroed(count + 1, sizeof(*search->first_user));
    note_users(search);
    for (size_t i = 1; i <= count; i++)
        search->first_user[i] += search->first_user[i - 1];
    search->users = memory_zeroed((size_t)search->first_user[count] + 1, sizeof(*search->users));
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
    const struct flow_import *import = flow_import_at(search->source, slot);

    if (import && import->target)
        expect_all_at(search, import->target);
}

static void expect_all(struct search *search, uint64_t target)
{
    uint64_t slot;

    if (flow_search_distance(search, target) == NOWHERE)
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

    memcpy(&number, bytes, sizeof(number));
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

/* Scans one range. The jumps of a procedure linkage table are left out: it is others that use them.
 */
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

void flow_search_link(struct search *search)
{
    look_up_all(search);
    find_users(search);
    scan_rest(search);
}
