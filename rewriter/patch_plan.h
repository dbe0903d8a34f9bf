/*
 * Planning patches: which bytes of a function give way to the jump to its stub, or why none can.
 * Rungs for harder cases, tried in order, belong into patch_plan: a jump of two bytes to a hole
 * within its reach, redirecting the callers.
 */
#ifndef UMBRA_REWRITER_PATCH_PLAN_H
#define UMBRA_REWRITER_PATCH_PLAN_H

#include "rewriter/code.h"

/* A 32-bit branch back to a function's first instruction, which must go to the stub's body. */
struct retarget {
    uint64_t field; /* address of the displacement, which ends the instruction */
    uint32_t function;
};

struct patch_plan {
    const struct code *code;
    struct function_list *functions;
    const struct code_map *map;
    uint64_t base, end; /* of the image */
    struct retarget *retargets;
    size_t retarget_count, retarget_room;
};

/* Decides on every undecided function: sets reason and, if it is hooked, the patch. */
void patch_plan(struct patch_plan *plan);
void patch_plan_free(struct patch_plan *plan);

#endif
