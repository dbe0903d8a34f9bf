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
#ifndef UMBRA_REWRITER_PATCH_DECIDE_H
#define UMBRA_REWRITER_PATCH_DECIDE_H

#include "rewriter/patch/patch_plan.h"

/* Decides on every undecided function: sets reason and, if it is hooked, the patch. */
void patch_decide(struct patch_plan *plan);

#endif
