/* Finding an image's functions and deciding what becomes of each. */
#ifndef UMBRA_REWRITER_ANALYSIS_H
#define UMBRA_REWRITER_ANALYSIS_H

#include "rewriter/format/image_format.h"
#include "rewriter/format/rewrite_options.h"

/*
 * Sets image->functions, each with its reason, and the plans, which patch_plan_free and
 * copy_plan_free free, on failure too. Refuses an image without functions, and one whose functions take too much work.
 */
bool image_analyse(struct image *image, const struct rewrite_options *options,
                   struct patch_plan *plan, struct copy_plan *copies, struct failure *failure);

#endif
