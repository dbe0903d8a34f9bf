#include "rewriter/flow/flow_keepers.h"

#include <stdlib.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_flags.h"
#include "rewriter/flow/flow_imports.h"
#include "support/memory.h"

struct finding {
    const struct flow_source *source;
    ZydisDecoder decoder;
    bool *is_keeper;
    bool marks_all;    /* also those that no flags go through */
    uint32_t *waiting; /* keepers whose own callees are to be looked at */
    size_t waiting_count, waiting_room;
};

/* Decodes the next instruction, or passes over a byte that is none: data between code. Returns
   whether it was looked at. */
static bool read_next(const struct finding *finding, const struct function *function,
                      const uint8_t *bytes, struct instruction *at)
{
    uint64_t address = at->address;
    size_t offset = address - function->address, room = function->end - address;

    at->length = room >= PLAIN_ROOM ? (uint8_t)plain_length(bytes + offset, 0) : 0;
    if (at->length)
        return false;
    if (room >= PLAIN_ROOM && plain_decode(address, bytes + offset, at))
        return true;
    if (instruction_decode(&finding->decoder, address, bytes + offset, room, at))
        return true;
    at->length = 1;
    return false;
}

/* What a call or jump leads to in the image, also by a slot that is bound by name; else 0. */
static uint64_t target_of(const struct finding *finding, const struct instruction *at)
{
    bool is_direct = at->flow != FLOW_INDIRECT_CALL && at->flow != FLOW_INDIRECT_JUMP;
    uint64_t slot = 0;
    const struct flow_import *import;

    if (is_direct)
        slot = flow_stub_slot(finding->source, &finding->decoder, at->target);
    else if (at->is_rip_based)
        slot = at->operand;
    if (!slot)
        return is_direct ? at->target : 0;
    import = flow_import_at(finding->source, slot);
    return import ? import->target : 0;
}

/* It is one if flags go through it. */
static void mark(struct finding *finding, uint64_t target)
{
    const struct function_list *functions = finding->source->functions;
    const struct function *function = target ? function_list_owner(functions, target) : NULL;
    uint32_t place;

    if (!function || target >= function->end)
        return;
    place = (uint32_t)(function - functions->items);
    if (finding->is_keeper[place] ||
        (!finding->marks_all && flow_flags_fate(finding->source, target) != FLAGS_RETURNED))
        return;
    finding->is_keeper[place] = true;
    finding->waiting = memory_grow(finding->waiting, finding->waiting_count, &finding->waiting_room,
                                   sizeof(*finding->waiting));
    finding->waiting[finding->waiting_count++] = place;
}

static bool is_jump_out(const struct function *function, const struct instruction *at)
{
    return at->flow == FLOW_INDIRECT_JUMP ||
           ((at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION) &&
            at->target - function->address >= function->end - function->address);
}

/* Marks what the function calls, if flags have that fate behind the call; with FLAGS_RETURNED, also
   what it jumps to. */
static void mark_callees(struct finding *finding, const struct function *function,
                         enum flow_flags_fate fate)
{
    struct instruction at = {.address = function->address};
    size_t room;
    const uint8_t *bytes = code_at(finding->source->code, function->address, &room);

    if (function->is_import || function->end <= function->address || !bytes ||
        function->end - function->address > room)
        return;
    for (; at.address < function->end; at.address += at.length) {
        if (!read_next(finding, function, bytes, &at))
            continue;
        if (at.flow == FLOW_CALL || at.flow == FLOW_INDIRECT_CALL) {
            if (flow_flags_fate(finding->source, at.address + at.length) == fate)
                mark(finding, target_of(finding, &at));
        } else if (fate == FLAGS_RETURNED && is_jump_out(function, &at)) {
            mark(finding, target_of(finding, &at));
        }
    }
}

static bool *find(const struct flow_source *source, bool marks_all)
{
    const struct function_list *functions = source->functions;
    struct finding finding = {
        .source = source,
        .is_keeper = memory_zeroed(functions->count, sizeof(*finding.is_keeper)),
        .marks_all = marks_all,
    };

    decoder_init(&finding.decoder, &processor_x86_64);
    for (size_t i = 0; i < functions->count; i++)
        if (functions->items[i].reason != PATCH_INSIDE_FUNCTION)
            mark_callees(&finding, &functions->items[i], FLAGS_READ);
    while (finding.waiting_count)
        mark_callees(&finding, &functions->items[finding.waiting[--finding.waiting_count]],
                     FLAGS_RETURNED);
    free(finding.waiting);
    return finding.is_keeper;
}

bool *flow_keepers_find(const struct flow_source *source)
{
    return find(source, false);
}

bool *flow_keepers_find_returning(const struct flow_source *source)
{
    return find(source, true);
}
