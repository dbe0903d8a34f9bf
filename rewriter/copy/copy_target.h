/* Where a direct branch of a member leads, as a copy has to know. */
#ifndef UMBRA_REWRITER_COPY_TARGET_H
#define UMBRA_REWRITER_COPY_TARGET_H

#include "rewriter/copy/copy_plan.h"

enum copy_target {
    COPY_TARGET_INSIDE, /* on within the member, or in one of its family */
    COPY_TARGET_BODY,   /* to where a hooked function is called */
    COPY_TARGET_OUT,    /* to anything else that is called */
    COPY_TARGET_BARRED, /* into the middle of a function that is never copied */
};

/* Where a jump leads that is in the member at that place in the list. may_leave: the return address
   is on top of the stack there, so a jump past another function's `endbr64` is a tail call of it,
   as by its patch. */
enum copy_target copy_target_of_jump(const struct copy_plan *plan,
                                     const struct function_list *functions, size_t member,
                                     uint64_t target, bool may_leave);
/* Whether a direct jump leaves the function, as a tail call does: `slot` is that of its return address there. */
bool copy_target_leaves(const struct copy_plan *plan, const struct function_list *functions,
                        size_t member, uint64_t target, struct return_slot slot);
/* The same of an indirect jump: what is certain jumps by tables and labels, or leaves as functions are left. */
bool copy_target_pointer_leaves(const struct copy_plan *plan, uint64_t jump,
                                struct return_slot slot);
/* The function that a jump to an address calls, or null. */
const struct function *copy_target_callee(const struct function_list *functions, uint64_t target);
/* Where a call leads: never COPY_TARGET_BARRED; COPY_TARGET_INSIDE if it is no call of a
   function. */
enum copy_target copy_target_of_call(const struct function_list *functions, size_t member,
                                     uint64_t target);

/* Where the return address lies as instructions of a member, asked for in order, begin. */
struct copy_slots {
    const struct code_unwind *unwind;
    struct return_slot slot;
};

struct copy_slots copy_slots_begin(const struct code *code, const struct function *member);
struct return_slot copy_slot_at(struct copy_slots *slots, uint64_t address);
/* Whether it is at a distance at which the context beside the frame can be found. */
bool copy_slot_is_near(struct return_slot slot);
/* Whether the stack pointer is at it, as where a function is left. */
bool copy_slot_serves_jump(struct return_slot slot);

#endif
