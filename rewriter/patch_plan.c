#include "rewriter/patch_plan.h"

#include "rewriter/memory.h"
#include "rewriter/stub.h"

#include <stdlib.h>

/* The instructions at the start of a function that the jump would replace. */
struct window {
    uint64_t start;   /* first byte replaced */
    size_t offset;    /* of start from the function's address */
    size_t displaced; /* bytes of instructions that move */
    size_t covered;   /* these and the padding behind them */
    bool is_over;     /* control does not get past the displaced instructions */
    bool has_padding;
};

/* Whether instruction `at`, moved elsewhere, can still reach what it refers to. */
static bool refers_to_image(const struct patch_plan *plan, const struct instruction *at)
{
    bool is_direct = at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION || at->flow == FLOW_LOOP ||
                     at->flow == FLOW_CALL;

    if (is_direct && (at->target < plan->base || at->target >= plan->end))
        return false;
    return !at->is_rip_based || (at->operand >= plan->base && at->operand < plan->end);
}

static bool ends_flow(const struct instruction *at)
{
    return at->flow == FLOW_END || at->flow == FLOW_JUMP || at->flow == FLOW_INDIRECT_JUMP;
}

/* Takes in one more instruction; returns why it cannot be, or PATCH_UNDECIDED. */
static enum patch_reason window_extend(const struct patch_plan *plan,
                                       const struct function *function, struct window *window,
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
    window->is_over = ends_flow(at);
    if (!refers_to_image(plan, at))
        return PATCH_UNMOVABLE;
    if ((at->flow == FLOW_CALL || at->flow == FLOW_INDIRECT_CALL) &&
        window->covered < PATCH_JUMP_SIZE)
        return PATCH_CALL_IN_PATCH;
    return PATCH_UNDECIDED;
}

/* Measures the window; returns why it is none, or PATCH_UNDECIDED. */
static enum patch_reason window_measure(const struct patch_plan *plan,
                                        const struct function *function, struct window *window)
{
    enum patch_reason reason = PATCH_UNDECIDED;
    struct instruction at;
    ZydisDecoder decoder;
    size_t size, offset;
    const uint8_t *bytes = code_at(plan->code, function->address, &size);

    *window = (struct window){.start = function->address};
    decoder_init(&decoder);
    if (!bytes || !instruction_decode(&decoder, function->address, bytes, size, &at))
        return PATCH_UNDECODABLE;
    if (at.zydis.mnemonic == ZYDIS_MNEMONIC_ENDBR64) {
        window->offset = at.length;
        window->start += at.length;
    }
    for (offset = window->offset; !reason && window->covered < PATCH_JUMP_SIZE;
         offset += at.length) {
        uint64_t address = function->address + offset;

        if (!instruction_decode(&decoder, address, bytes + offset, size - offset, &at))
            return address >= function->end ? PATCH_TOO_SHORT : PATCH_UNDECODABLE;
        reason = window_extend(plan, function, window, &at);
    }
    return reason;
}

/* Nothing may lead into the window but at its start. */
static enum patch_reason window_check(const struct patch_plan *plan, const struct window *window)
{
    const struct code_map *map = plan->map;
    uint64_t end = window->start + window->covered;

    for (uint64_t address = window->start + 1; address < end; address++)
        if (address_set_has(&map->jumps, address) || address_set_has(&map->calls, address) ||
            address_set_has(&map->pointers, address))
            return PATCH_BRANCH_TARGET;
    if (function_list_below(plan->functions, end - 1)->address > window->start)
        return PATCH_TOO_SHORT;
    return PATCH_UNDECIDED;
}

/* Whether code at an address is part of a function, or of a fragment of it. */
static bool is_own(const struct patch_plan *plan, const struct function *function, uint64_t address)
{
    const struct function *from = function_list_owner(plan->functions, address);
    size_t index = (size_t)(function - plan->functions->items);

    if (!from || address >= from->end)
        return false;
    return from == function || (from->reason == PATCH_FRAGMENT && from->owner == index + 1);
}

/*
 * Jumps of a function back to its own start are iterations, not calls. Those inside the window
 * move with it. One with room for a 32-bit displacement can be sent to the body; the others
 * cannot.
 */
static enum patch_reason loops_check(struct patch_plan *plan, const struct function *function,
                                     const struct window *window)
{
    const struct code_map *map = plan->map;
    size_t first = plan->retarget_count;

    for (size_t i = code_map_branches_from(map, function->address);
         i < map->branch_count && map->branches[i].target <= window->start; i++) {
        const struct branch *branch = &map->branches[i];

        if (branch->target != window->start && branch->target != function->address)
            continue;
        if (!is_own(plan, function, branch->source) ||
            (branch->source - window->start < window->displaced && branch->length))
            continue;
        if (!branch->is_near) {
            plan->retarget_count = first;
            return PATCH_LOOP_AT_ENTRY;
        }
        plan->retargets = memory_grow(plan->retargets, plan->retarget_count, &plan->retarget_room,
                                      sizeof *plan->retargets);
        plan->retargets[plan->retarget_count++] = (struct retarget){
            branch->source + branch->length - 4, (uint32_t)(function - plan->functions->items)};
    }
    return PATCH_UNDECIDED;
}

static enum patch_reason decide(struct patch_plan *plan, struct function *function)
{
    struct stub_segment scratch = {.address = plan->end};
    struct window window;
    enum patch_reason reason;
    bool is_movable, is_adjusted;
    size_t size;

    reason = window_measure(plan, function, &window);
    if (reason == PATCH_UNDECIDED)
        reason = window_check(plan, &window);
    if (reason != PATCH_UNDECIDED)
        return reason;
    function->patch_offset = (uint8_t)window.offset;
    function->displaced = (uint8_t)window.displaced;
    function->patch_size =
        (uint8_t)(window.covered < PATCH_MAX_FILL ? window.covered : PATCH_MAX_FILL);
    is_movable = stub_body_append(&scratch, function, code_at(plan->code, function->address, &size),
                                  &is_adjusted, NULL);
    free(scratch.code.bytes);
    if (!is_movable)
        return PATCH_UNMOVABLE;
    reason = loops_check(plan, function, &window);
    if (reason != PATCH_UNDECIDED)
        return reason;
    return window.has_padding ? PATCH_PADDING : is_adjusted ? PATCH_ADJUSTED : PATCH_PLAIN;
}

void patch_plan(struct patch_plan *plan)
{
    for (size_t i = 0; i < plan->functions->count; i++) {
        struct function *function = &plan->functions->items[i];

        if (function->reason == PATCH_UNDECIDED)
            function->reason =
                (uint8_t)(function->is_import ? PATCH_IMPORT : decide(plan, function));
    }
}

void patch_plan_free(struct patch_plan *plan)
{
    free(plan->retargets);
    plan->retargets = NULL;
}
