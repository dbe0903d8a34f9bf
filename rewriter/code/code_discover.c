#include "rewriter/code/code_discover.h"

#include <stdlib.h>

#include "rewriter/code/code_sweep.h"
#include "rewriter/code/code_tables.h"
#include "rewriter/code/decode.h"
#include "support/progress.h"

#define LOOK_AHEAD 1024 /* bytes that decode are code */
#define ROUND_WORK 64   /* units that sorting in what a round found costs for each function */

static bool is_decodable(const struct code *code, const ZydisDecoder *decoder, uint64_t address)
{
    struct instruction at;
    size_t size;
    const uint8_t *bytes = code_at(code, address, &size);

    for (size_t offset = 0; bytes && offset < size; offset += at.length) {
        if (offset > LOOK_AHEAD)
            return true;
        if (!instruction_decode(decoder, address + offset, bytes + offset, size - offset, &at))
            return false;
        if (at.flow == FLOW_END || at.flow == FLOW_JUMP || at.flow == FLOW_INDIRECT_JUMP)
            return true;
    }
    return false;
}

bool code_is_decodable(const struct code *code, uint64_t address)
{
    ZydisDecoder decoder;

    decoder_init(&decoder, code->processor);
    return is_decodable(code, &decoder, address);
}

/* `[endbr64] [bnd] jmp [rip + ...]`: a stub of the procedure linkage table. In code of 32 bits,
   `[endbr32]` and `jmp [...]` or `jmp [ebx + ...]`. */
static bool is_plt_stub(const struct code *code, const ZydisDecoder *decoder, uint64_t address)
{
    struct instruction at;
    size_t size, offset = 0;
    const uint8_t *bytes = code_at(code, address, &size);

    if (!bytes || !instruction_decode(decoder, address, bytes, size, &at))
        return false;
    if (instruction_is_landing(&at)) {
        offset = at.length;
        if (!instruction_decode(decoder, address + offset, bytes + offset, size - offset, &at))
            return false;
    }
    return at.flow == FLOW_INDIRECT_JUMP && code->processor->is_slot_jump(&at);
}

/* What a call target outside the list turns out to be. False if it is not code at all. */
static bool function_at_call(const struct code *code, const struct function_list *functions,
                             uint64_t address, struct function *found)
{
    const struct function *below = function_list_owner(functions, address);
    const struct code_range *range = code_range_at(code, address);
    ZydisDecoder decoder;

    decoder_init(&decoder, code->processor);
    *found = (struct function){.address = address, .evidence = EVIDENCE_CALL};
    if (!range || !is_decodable(code, &decoder, address))
        return false;
    if (is_plt_stub(code, &decoder, address)) {
        found->end = address;
        found->reason = PATCH_PLT;
        return true;
    }
    if (below && below->evidence & EVIDENCE_EXTENT && address < below->end) {
        found->end = below->end;
        found->reason = PATCH_INSIDE_FUNCTION;
        return true;
    }
    found->end = range->address + range->size;
    return true;
}

/* Adds what is called and not yet known; false if there is nothing new. */
static bool add_called(const struct code *code, struct function_list *functions,
                       const struct code_map *map)
{
    struct function_list added = {0};
    struct function found;
    uint64_t address = 0;
    bool is_new;

    while ((address = address_set_next(&map->calls, address, UINT64_MAX)) != UINT64_MAX) {
        if (!function_list_at(functions, address) &&
            function_at_call(code, functions, address, &found))
            function_list_add(&added, found);
        address++;
    }
    for (size_t i = 0; i < added.count; i++)
        function_list_add(functions, added.items[i]);
    is_new = added.count > 0;
    function_list_free(&added);
    if (is_new)
        function_list_settle(functions);
    return is_new;
}

static void sweep_gaps(const struct code *code, const struct function_list *functions,
                       struct code_map *map)
{
    size_t next = 0;

    for (size_t i = 0; i < code->range_count; i++) {
        const struct code_range *range = &code->ranges[i];
        uint64_t end = range->address + range->size, at = range->address;

        for (; next < functions->count && functions->items[next].address < end; next++) {
            const struct function *function = &functions->items[next];

            if (function->address > at)
                code_sweep_gap(code, at, function->address, map);
            at = function->end > at ? function->end : at;
        }
        if (at < end)
            code_sweep_gap(code, at, end, map);
    }
}

static uint64_t word_at(const struct code *code, const struct code_range *range, uint64_t at)
{
    return at <= range->size && range->size - at >= code->processor->pointer_size
               ? code_pointer_at(code, range->bytes + at)
               : 0;
}

/* Whether an address lies in the middle of a function. */
static bool is_inside(const struct function_list *functions, uint64_t address)
{
    const struct function *owner = function_list_owner(functions, address);

    return owner && owner->evidence & EVIDENCE_EXTENT && address > owner->address &&
           address < owner->end;
}

/*
 * Every aligned word of data that is the address of code, where no relocations tell: images that
 * can be moved have low addresses, which look like any other number. A word next to one that
 * leads into the middle of a function belongs to a jump table.
 */
static void note_data_pointers(const struct code *code, const struct function_list *functions,
                               struct code_map *map)
{
    uint64_t size = code->processor->pointer_size;

    for (size_t i = 0; i < code->data_count; i++) {
        const struct code_range *range = &code->data[i];

        for (uint64_t at = -range->address & (size - 1); at + size <= range->size; at += size) {
            uint64_t word = word_at(code, range, at), source = word_at(code, range, at - size);

            if (!code_range_at(code, word))
                continue;
            if (!is_inside(functions, source))
                source = word_at(code, range, at + size);
            if (is_inside(functions, source))
                code_map_add(
                    map, (struct branch){.target = word, .source = source, .kind = BRANCH_TABLE});
            else
                address_set_add(&map->pointers, word);
        }
    }
}

static void note_evidence(struct function_list *functions, const struct code_map *map)
{
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (address_set_has(&map->calls, function->address))
            function->evidence |= EVIDENCE_CALL;
        if (address_set_has(&map->pointers, function->address))
            function->evidence |= EVIDENCE_POINTER;
    }
}

static void mark_plt(const struct code *code, struct function_list *functions)
{
    ZydisDecoder decoder;

    decoder_init(&decoder, code->processor);
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (!(function->evidence & (EVIDENCE_UNWIND | EVIDENCE_SYMBOL)) && !function->reason &&
            is_plt_stub(code, &decoder, function->address))
            function->reason = PATCH_PLT;
    }
}

void code_discover(const struct code *code, struct function_list *functions, struct code_map *map)
{
    if ((code->has_absolute_code && !code->has_listed_pointers) || code->has_unlisted_pointers)
        note_data_pointers(code, functions, map);
    if (code->table_origin)
        code_inline_tables_find(code, functions, map);
    do {
        for (size_t i = 0; i < functions->count; i++) {
            progress_share(i, functions->count, "the functions swept");
            if (!functions->items[i].is_swept &&
                functions->items[i].reason != PATCH_INSIDE_FUNCTION)
                code_sweep(code, &functions->items[i], map);
        }
        code_map_end_round(map);
    } while (code_map_spend_work(map, functions->count * ROUND_WORK + map->calls.size / 512) &&
             add_called(code, functions, map));
    progress_clear();
    code_map_end_sweeps(map);
    if (map->is_exhausted)
        return;
    sweep_gaps(code, functions, map);
    code_tables_note(code, map);
    mark_plt(code, functions);
    note_evidence(functions, map);
    code_map_settle(map);
}
