/*
 * Holes: five bytes for a jump, within the reach of a branch that has only 8 bits to say how far.
 *
 *      padding between functions         nop, int3; nothing leads there
 *      behind another function's jump    a hooked function near by lets five bytes more go:
 *
 *              jmp  its stub             e9 ........
 *              jmp  somewhere else       e9 ........     the hole
 *              ...                       what is left of the displaced instructions
 *
 * Code optimised for size has no padding, but it has other functions.
 */
#ifndef UMBRA_REWRITER_PATCH_HOLE_H
#define UMBRA_REWRITER_PATCH_HOLE_H

#include "rewriter/patch/patch_plan.h"

/*
 * Address of a hole that a branch of 8 bits ending at `next` reaches, taken for good and noted in
 * the plan; 0 if there is none. May extend what another function displaces.
 */
uint64_t patch_hole_take(struct patch_plan *plan, uint64_t next);

/* Whether no hole that was taken has any of these bytes. */
bool patch_hole_is_clear(const struct patch_plan *plan, uint64_t address, uint64_t size);

#endif
