#include "rewriter/patch/patch_window.h"

#include <stdlib.h>

#include "rewriter/code/decode.h"
#include "rewriter/patch/stub.h"

/* Whether instruction `at`, moved elsewhere, can still reach what it refers to. */
static bool is_in_reach(const struct patch_plan *plan, const struct instruction *at)
{
    bool is_direct = at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION || at->flow == FLOW_LOOP ||
                     at->flow == FLOW_CALL;

    if (is_direct && (at->target < plan->base || at->target >= plan->end))
        return false;
    return !at->is_rip_based || (at->operand >= plan->base && at->operand <= plan->end);
}

static bool is_end_of_flow(const struct instruction *at)
{
    return at->flow == FLOW_END || at->flow == FLOW_JUMP || at->flow == FLOW_INDIRECT_JUMP;
}

/* Takes in one more instruction; returns why it cannot be, or PATCH_UNDECIDED. */
static enum patch_reason window_extend(const struct patch_plan *plan,
                                       const struct function *function, struct patch_window *window,
                                       const struct instruction *at)
{
    window->covered += at->length;
    if (window->is_over || at->address >= function->end) {
        if (!instruction_is_padding(at))
            return PATCH_TOO_SHORT;
        window->has_padding = true;
    }
    if (window->is_over)
        return PATCH_UNDECIDED;
    window->displaced = window->covered;
    window->is_over = is_end_of_flow(at);
    if (!is_in_reach(plan, at))
        return PATCH_UNMOVABLE;
    if (function->is_guarded && at->address - function->address >= function->prologue &&
        instruction_may_fault(at))
        return PATCH_GUARDED;
    if ((at->flow == FLOW_CALL || at->flow == FLOW_INDIRECT_CALL) && window->covered < window->room)
        return PATCH_CALL_IN_PATCH;
    return PATCH_UNDECIDED;
}

/* Takes in instructions until there is room. */
static enum patch_reason window_fill(const struct patch_plan *plan, const struct function *function,
                                     struct patch_window *window)
{
    enum patch_reason reason = PATCH_UNDECIDED;
    struct instruction at;
    ZydisDecoder decoder;
    size_t size, offset;
    const uint8_t *bytes = code_at(plan->code, function->address, &size);

    decoder_init(&decoder, plan->code->processor);
    if (!bytes || !instruction_decode(&decoder, function->address, bytes, size, &at))
        return PATCH_UNDECODABLE;
    if (instruction_is_landing(&at)) {
        window->offset = at.length;
        window->start += at.length;
    }
    for (offset = window->offset; !reason && window->covered < window->room; offset += at.length) {
        uint64_t address = function->address + offset;

        if (!instruction_decode(&decoder, address, bytes + offset, size - offset, &at))
            return address >= function->end ? PATCH_TOO_SHORT : PATCH_UNDECODABLE;
        reason = window_extend(plan, function, window, &at);
    }
    return reason;
}

bool patch_is_target(const struct code_map *map, uint64_t address, uint64_t end)
{
    for (; address < end; address++)
        if (address_set_has(&map->jumps, address) || address_set_has(&map->calls, address) ||
            address_set_has(&map->pointers, address))
            return true;
    return false;
}

/* Nothing may lead into the bytes overwritten but to the first. */
static enum patch_reason window_check(const struct patch_plan *plan,
                                      const struct patch_window *window)
{
    uint64_t end = window->start + patch_window_overwritten(window);

    if (patch_is_target(plan->map, window->start + 1, end))
        return PATCH_BRANCH_TARGET;
    if (function_list_below(plan->functions, end - 1)->address > window->start)
        return PATCH_TOO_SHORT;
    return PATCH_UNDECIDED;
}

/* Whether a loader would fill in words among the bytes that move, or are overwritten. */
static bool is_relocated(const struct patch_plan *plan, const struct patch_window *window)
{
    size_t size = patch_window_overwritten(window);

    size = size > window->displaced ? size : window->displaced;
    return code_map_is_relocated(plan->map, window->start, window->start + size,
                                 plan->code->processor->pointer_size);
}

/* Whether a word is an operand of the instruction, which stays one where that moves to. */
static bool is_operand(const struct instruction *at, uint64_t word)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    uint64_t field = word - at->address;

    if (at->flow == FLOW_INDIRECT_CALL && zydis->raw.modrm.rm == 4 && zydis->raw.sib.base == 4)
        return false; /* [esp + n] gets another displacement: stub_put_call_operand */
    return (zydis->raw.disp.size == 32 && zydis->raw.disp.offset == field) ||
           (zydis->raw.imm[0].size == 32 && !zydis->raw.imm[0].is_relative &&
            zydis->raw.imm[0].offset == field);
}

/* Whether all of these words are operands, whole, of what moves. */
static bool relocated_moves(const struct patch_plan *plan, const struct patch_window *window)
{
    uint64_t word = plan->code->processor->pointer_size, end = window->start + window->displaced;
    const struct code_map *map = plan->map;
    size_t next = code_map_relocated_from(map, window->start, word), size;
    const uint8_t *bytes = code_at(plan->code, window->start, &size);
    struct instruction at;
    ZydisDecoder decoder;

    if (!plan->code->moves_relocated)
        return false;
    decoder_init(&decoder, plan->code->processor);
    for (uint64_t address = window->start; address < end; address += at.length) {
        if (!instruction_decode(&decoder, address, bytes + (address - window->start),
                                size - (address - window->start), &at))
            return false;
        for (; next < map->relocated_count && map->relocated[next] < address + at.length; next++)
            if (!is_operand(&at, map->relocated[next]))
                return false;
    }
    return !code_map_is_relocated(map, end, window->start + patch_window_overwritten(window), word);
}

static bool window_moves(const struct patch_plan *plan, const struct function *function,
                         struct patch_window *window)
{
    struct stub_segment scratch = {
        .processor = plan->code->processor, .image = plan->code, .address = plan->end};
    struct function moved = *function;
    size_t size;
    bool is_movable;

    moved.patch_offset = (uint8_t)window->offset;
    moved.displaced = (uint8_t)window->displaced;
    is_movable = stub_body_append(&scratch, &moved, code_at(plan->code, function->address, &size),
                                  &window->is_adjusted, NULL);
    free(scratch.code.bytes);
    return is_movable;
}

size_t patch_window_overwritten(const struct patch_window *window)
{
    if (window->room < PATCH_JUMP_SIZE || window->covered > PATCH_MAX_FILL)
        return window->room;
    return window->covered;
}

enum patch_reason patch_window_measure(const struct patch_plan *plan,
                                       const struct function *function, struct patch_window *window,
                                       size_t room)
{
    enum patch_reason reason;

    *window = (struct patch_window){.start = function->address, .room = room};
    reason = window_fill(plan, function, window);
    if (reason == PATCH_UNDECIDED)
        reason = window_check(plan, window);
    if (reason == PATCH_UNDECIDED &&
        (window->displaced > PATCH_MAX_DISPLACED ||
         (is_relocated(plan, window) && !relocated_moves(plan, window)) ||
         !window_moves(plan, function, window)))
        reason = PATCH_UNMOVABLE;
    return reason;
}
