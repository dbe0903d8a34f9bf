/* Jumps in the originals to their copies; copy_plan.h draws them. */
#ifndef UMBRA_REWRITER_COPY_TRAMPOLINES_H
#define UMBRA_REWRITER_COPY_TRAMPOLINES_H

#include "rewriter/copy/copy_plan_work.h"

/* Notes all that is overwritten in code besides. */
void copy_trampolines_begin(struct copy_plan *plan, const struct patch_plan *patches);

/* Wants one at an address within a member. */
void copy_trampoline_add(struct copy_plan *plan, uint64_t address);

/* Finds room for them, and for those at the targets of tables that cannot be written. */
void copy_trampolines_place(struct copy_plan_work *work);

/* Once all doubts are known: forgets those of what is not copied. */
void copy_trampolines_settle(struct copy_plan_work *work);

#endif
