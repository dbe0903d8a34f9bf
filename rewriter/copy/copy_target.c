#include "rewriter/copy/copy_target.h"

#define MOST_DEPTH (1 << 20) /* bytes of a frame */

/* The function that a member belongs to. */
static size_t whole_of(const struct function_list *functions, size_t member)
{
    const struct function *function = &functions->items[member];

    return function->reason == PATCH_FRAGMENT && function->owner ? function->owner - 1u : member;
}

static bool is_hooked_body(const struct function *function)
{
    return patch_reason_is_hooked(function->reason) && !function->is_import;
}

const struct function *copy_target_callee(const struct function_list *functions, uint64_t target)
{
    const struct function *function = function_list_owner(functions, target);

    if (!function ||
        (target != function->address &&
         (!is_hooked_body(function) || target != function->address + function->patch_offset)))
        return NULL;
    return function;
}

enum copy_target copy_target_of_jump(const struct copy_plan *plan,
                                     const struct function_list *functions, size_t member,
                                     uint64_t target, bool may_leave)
{
    const struct function *from = &functions->items[member], *to;
    size_t place;

    if (target >= from->address && target < from->end)
        return COPY_TARGET_INSIDE;
    to = function_list_owner(functions, target);
    if (!to || to->is_import || target >= to->end || to->reason == PATCH_PLT)
        return COPY_TARGET_OUT;
    place = (size_t)(to - functions->items);
    if (is_hooked_body(to) && place != whole_of(functions, member) &&
        (target == to->address || (may_leave && copy_target_callee(functions, target))))
        return COPY_TARGET_BODY;
    if (plan->doubts[place] == COPY_NO_MEMBER)
        return target == to->address ? COPY_TARGET_OUT : COPY_TARGET_BARRED;
    return COPY_TARGET_INSIDE;
}

enum copy_target copy_target_of_call(const struct function_list *functions, size_t member,
                                     uint64_t target)
{
    const struct function *from = &functions->items[member], *to;

    if (target > from->address && target < from->end)
        return COPY_TARGET_INSIDE;
    to = function_list_at(functions, target);
    return to && is_hooked_body(to) ? COPY_TARGET_BODY : COPY_TARGET_OUT;
}

struct copy_slots copy_slots_begin(const struct code *code, const struct function *member)
{
    if (code->unwind.begin)
        code->unwind.begin(code->unwind.context, member);
    return (struct copy_slots){.unwind = &code->unwind};
}

struct return_slot copy_slot_at(struct copy_slots *slots, uint64_t address)
{
    if (!slots->unwind->slot_at)
        return (struct return_slot){.base = RETURN_SLOT_UNKNOWN};
    if (address >= slots->slot.until)
        slots->slot = slots->unwind->slot_at(slots->unwind->context, address);
    return slots->slot;
}

bool copy_slot_is_near(struct return_slot slot)
{
    return slot.base != RETURN_SLOT_UNKNOWN && slot.offset >= 0 && slot.offset <= MOST_DEPTH;
}

bool copy_slot_serves_jump(struct return_slot slot)
{
    return slot.base == RETURN_SLOT_RSP && slot.offset == 0;
}

bool copy_target_leaves(const struct copy_plan *plan, const struct function_list *functions,
                        size_t member, uint64_t target, struct return_slot slot)
{
    return copy_target_of_jump(plan, functions, member, target, copy_slot_serves_jump(slot)) !=
           COPY_TARGET_INSIDE;
}

bool copy_target_pointer_leaves(const struct copy_plan *plan, uint64_t jump,
                                struct return_slot slot)
{
    return !copy_plan_is_table_jump(plan, jump) && copy_slot_serves_jump(slot);
}
