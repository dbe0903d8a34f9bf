/* Making a plan: which members are copied. copy_plan.h says what for. */
#ifndef UMBRA_REWRITER_COPY_PLAN_MAKE_H
#define UMBRA_REWRITER_COPY_PLAN_MAKE_H

#include "rewriter/copy/copy_plan.h"

/* Fills in an empty plan, once all patches are planned. Sorts what is in the source. */
void copy_plan_make(struct copy_plan *plan, const struct patch_plan *patches,
                    struct copy_source *source);

#endif
