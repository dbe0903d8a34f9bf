#include "rewriter/patch/patch_hole.h"

#include "rewriter/code/decode.h"
#include "rewriter/patch/patch_window.h"
#include "support/memory.h"

#define REACH_BACK    128
#define REACH_FORWARD 127

static bool is_in_reach(uint64_t next, uint64_t hole)
{
    return hole + REACH_BACK >= next && hole <= next + REACH_FORWARD;
}

bool patch_hole_is_clear(const struct patch_plan *plan, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < plan->hole_count; i++)
        if (address < plan->holes[i] + PATCH_JUMP_SIZE && plan->holes[i] < address + size)
            return false;
    return true;
}

static bool is_free(const struct patch_plan *plan, uint64_t hole)
{
    return patch_hole_is_clear(plan, hole, PATCH_JUMP_SIZE);
}

/* Whether control cannot get past the end of a function. */
static bool is_closed(const struct patch_plan *plan, const struct function *function)
{
    struct instruction at = {.flow = FLOW_NEXT};
    uint64_t size = function->end - function->address;
    ZydisDecoder decoder;
    size_t room;
    const uint8_t *bytes = code_at(plan->code, function->address, &room);

    if (!bytes || !(function->evidence & EVIDENCE_EXTENT) || size > room)
        return false;
    decoder_init(&decoder, plan->code->processor);
    for (uint64_t offset = 0; offset < size; offset += at.length)
        if (!instruction_decode(&decoder, function->address + offset, bytes + offset, size - offset,
                                &at))
            return false;
    return at.flow == FLOW_END || at.flow == FLOW_JUMP || at.flow == FLOW_INDIRECT_JUMP;
}

/* Whether there is nothing but padding from the end of a function on; up to where. */
static uint64_t padding_end(const struct patch_plan *plan, uint64_t address, uint64_t limit)
{
    struct instruction at;
    ZydisDecoder decoder;
    size_t size;
    const uint8_t *bytes = code_at(plan->code, address, &size);

    decoder_init(&decoder, plan->code->processor);
    while (bytes && address < limit && instruction_decode(&decoder, address, bytes, size, &at) &&
           instruction_is_padding(&at) && at.length <= limit - address) {
        address += at.length;
        bytes += at.length;
        size -= at.length;
    }
    return address;
}

/* In the padding between a function and the next. */
static uint64_t hole_behind(const struct patch_plan *plan, const struct function *function,
                            uint64_t next)
{
    const struct function *last = plan->functions->items + plan->functions->count;
    uint64_t hole = function->end, limit = function + 1 < last ? function[1].address : hole;
    uint64_t patched = function->address + function->patch_offset + function->patch_size;

    if (limit <= hole || limit - hole < PATCH_JUMP_SIZE || !is_closed(plan, function))
        return 0;
    limit = padding_end(plan, hole, limit);
    hole = patched > hole ? patched : hole;
    for (; hole + PATCH_JUMP_SIZE <= limit; hole++)
        if (is_in_reach(next, hole) && is_free(plan, hole) &&
            !patch_is_target(plan->map, function->end, limit))
            return hole;
    return 0;
}

static bool is_retargeted(const struct patch_plan *plan, const struct function *function)
{
    for (size_t i = 0; i < plan->retarget_count; i++)
        if (plan->retargets[i].function == (size_t)(function - plan->functions->items))
            return true;
    return false;
}

/* Behind the jump at the start of a function, which then displaces more. */
static uint64_t hole_inside(const struct patch_plan *plan, struct function *function, uint64_t next)
{
    uint64_t hole = function->address + function->patch_offset + PATCH_JUMP_SIZE;
    struct patch_window window;

    if ((function->reason != PATCH_PLAIN && function->reason != PATCH_ADJUSTED) ||
        !is_in_reach(next, hole) || !is_free(plan, hole) || is_retargeted(plan, function) ||
        patch_window_measure(plan, function, &window, 2 * PATCH_JUMP_SIZE) != PATCH_UNDECIDED ||
        window.has_padding)
        return 0;
    function->displaced = (uint8_t)window.displaced;
    function->patch_size = PATCH_JUMP_SIZE;
    if (window.is_adjusted)
        function->reason = PATCH_ADJUSTED;
    return hole;
}

uint64_t patch_hole_take(struct patch_plan *plan, uint64_t next)
{
    struct function *end = plan->functions->items + plan->functions->count;
    struct function *at = function_list_below(plan->functions, next - REACH_BACK);
    uint64_t hole = 0;

    at = at ? at : plan->functions->items;
    for (struct function *near = at; !hole && near < end && near->address <= next + REACH_FORWARD;
         near++)
        hole = hole_behind(plan, near, next);
    for (struct function *near = at; !hole && near < end && near->address <= next + REACH_FORWARD;
         near++)
        hole = hole_inside(plan, near, next);
    if (!hole)
        return 0;
    plan->holes = memory_grow(plan->holes, plan->hole_count, &plan->hole_room, sizeof(hole));
    plan->holes[plan->hole_count++] = hole;
    return hole;
}
