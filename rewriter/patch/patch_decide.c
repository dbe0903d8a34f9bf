#include "rewriter/patch/patch_decide.h"

#include "rewriter/patch/patch_hole.h"
#include "rewriter/patch/patch_window.h"
#include "support/memory.h"

/* Whether a branch is such a jump, and stays where it is. */
static bool is_loop(const struct patch_plan *plan, const struct function *function,
                    const struct patch_window *window, const struct branch *branch)
{
    if (branch->target != window->start && branch->target != function->address)
        return false;
    return patch_plan_is_own(plan, function, branch->source) &&
           !(branch->source - window->start < window->displaced && branch->length);
}

/* False if the branch cannot be sent elsewhere. */
static bool loop_send(struct patch_plan *plan, const struct function *function,
                      const struct branch *branch)
{
    uint64_t next = branch->source + branch->length;
    struct retarget retarget = {.field = next - 4,
                                .function = (uint32_t)(function - plan->functions->items)};

    if (branch->length == 0)
        return false;
    if (!branch->is_near) {
        retarget.field = next - 1;
        retarget.hole = patch_hole_take(plan, next);
        if (!retarget.hole)
            return false;
    }
    plan->retargets = memory_grow(plan->retargets, plan->retarget_count, &plan->retarget_room,
                                  sizeof(*plan->retargets));
    plan->retargets[plan->retarget_count++] = retarget;
    return true;
}

/*
 * Jumps of a function back to its own start are iterations, not calls. Those inside the window
 * move with it. One with room for a 32-bit displacement is sent to the body, a shorter one to a
 * hole from where it goes on there.
 */
static enum patch_reason loops_send(struct patch_plan *plan, const struct function *function,
                                    const struct patch_window *window)
{
    const struct code_map *map = plan->map;
    size_t first = plan->retarget_count;

    for (size_t i = code_map_branches_from(map, function->address);
         i < map->branch_count && map->branches[i].target <= window->start; i++) {
        const struct branch *branch = &map->branches[i];

        if (!is_loop(plan, function, window, branch))
            continue;
        if (!loop_send(plan, function, branch)) {
            plan->retarget_count = first;
            return PATCH_LOOP_AT_ENTRY;
        }
    }
    return PATCH_UNDECIDED;
}

static void settle(struct function *function, const struct patch_window *window)
{
    function->patch_offset = (uint8_t)window->offset;
    function->displaced = (uint8_t)window->displaced;
    function->patch_size = (uint8_t)patch_window_overwritten(window);
}

static bool has_loops(const struct patch_plan *plan, const struct function *function,
                      const struct patch_window *window)
{
    const struct code_map *map = plan->map;

    for (size_t i = code_map_branches_from(map, function->address);
         i < map->branch_count && map->branches[i].target <= window->start; i++)
        if (is_loop(plan, function, window, &map->branches[i]) && !map->branches[i].is_near)
            return true;
    return false;
}

static enum patch_reason decide(struct patch_plan *plan, struct function *function)
{
    struct patch_window window;
    enum patch_reason reason = patch_window_measure(plan, function, &window, PATCH_JUMP_SIZE);

    if (reason != PATCH_UNDECIDED)
        return reason;
    if (has_loops(plan, function, &window))
        return PATCH_LOOP_AT_ENTRY;
    settle(function, &window);
    loops_send(plan, function, &window);
    return window.has_padding ? PATCH_PADDING : window.is_adjusted ? PATCH_ADJUSTED : PATCH_PLAIN;
}

/* With the help of a hole within the reach of a short jump. */
static enum patch_reason decide_with_hole(struct patch_plan *plan, struct function *function)
{
    bool is_loop_only = function->reason == PATCH_LOOP_AT_ENTRY;
    size_t room = is_loop_only ? PATCH_JUMP_SIZE : PATCH_SHORT_JUMP_SIZE;
    struct patch_window window;
    enum patch_reason reason = function->reason;
    uint64_t hole = 0;

    if (patch_window_measure(plan, function, &window, room) != PATCH_UNDECIDED ||
        !patch_hole_is_clear(plan, window.start, patch_window_overwritten(&window)))
        return reason;
    if (!is_loop_only && !(hole = patch_hole_take(plan, window.start + PATCH_SHORT_JUMP_SIZE)))
        return reason;
    if (loops_send(plan, function, &window) != PATCH_UNDECIDED)
        return PATCH_LOOP_AT_ENTRY;
    settle(function, &window);
    function->hole = hole;
    return hole ? PATCH_SHORT_JUMP : window.is_adjusted ? PATCH_ADJUSTED : PATCH_PLAIN;
}

void patch_decide(struct patch_plan *plan)
{
    struct function *end = plan->functions->items + plan->functions->count;

    for (struct function *function = plan->functions->items; function < end; function++)
        if (function->reason == PATCH_UNDECIDED)
            function->reason =
                (uint8_t)(function->is_import ? PATCH_IMPORT : decide(plan, function));
    for (struct function *function = plan->functions->items; function < end; function++)
        if (function->reason == PATCH_TOO_SHORT || function->reason == PATCH_BRANCH_TARGET ||
            function->reason == PATCH_CALL_IN_PATCH || function->reason == PATCH_LOOP_AT_ENTRY ||
            function->reason == PATCH_GUARDED)
            function->reason = (uint8_t)decide_with_hole(plan, function);
}
