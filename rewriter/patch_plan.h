/*
 * Planning patches: which bytes of a function give way to the jump to its stub, or why none can.
 * The rungs, tried in order:
 *
 *      jmp stub                    5 bytes: of the function, and of padding behind a short one
 *      jmp short hole              2 bytes: where less than 5 are free, because the function or
 *      hole: jmp stub              what is safe of it is shorter; see patch_hole.h
 *      callers changed             0 bytes: what none of these helps; see patch_redirect.h
 *
 * A loop back to the first instruction goes to the stub's body: by its own 32-bit displacement, or
 * through a hole.
 */
#ifndef UMBRA_REWRITER_PATCH_PLAN_H
#define UMBRA_REWRITER_PATCH_PLAN_H

#include "rewriter/code.h"

/* A branch back to a function's first instruction, which must go to the stub's body. */
struct retarget {
    uint64_t field; /* address of the displacement, which ends the instruction */
    uint64_t hole;  /* of a branch of 8 bits, which goes there first; else 0 */
    uint32_t function;
};

/* A reference to a function, which must go to its stub: see patch_redirect.h. */
struct redirect {
    uint64_t instruction; /* its address */
    uint64_t field;       /* of the 32-bit distance, which ends it */
    uint32_t function;    /* that it leads to */
};

struct patch_plan {
    const struct code *code;
    struct function_list *functions;
    const struct code_map *map;
    uint64_t base, end; /* of the image */
    struct retarget *retargets;
    size_t retarget_count, retarget_room;
    struct redirect *redirects;
    size_t redirect_count, redirect_room;
    uint64_t *holes; /* addresses of those in use, in any order */
    size_t hole_count, hole_room;
};

/* Decides on every undecided function: sets reason and, if it is hooked, the patch. */
void patch_plan(struct patch_plan *plan);
/* Whether code at an address is part of a function, or of a fragment of it. */
bool patch_plan_is_own(const struct patch_plan *plan, const struct function *function,
                       uint64_t address);
void patch_plan_free(struct patch_plan *plan);

#endif
