/* What was planned for the functions of an image; patch_decide.h says how. */
#ifndef UMBRA_REWRITER_PATCH_PLAN_H
#define UMBRA_REWRITER_PATCH_PLAN_H

#include "rewriter/code/code.h"

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

/* Whether code at an address is part of a function, or of a fragment of it. */
bool patch_plan_is_own(const struct patch_plan *plan, const struct function *function,
                       uint64_t address);
void patch_plan_free(struct patch_plan *plan);

#endif
