/* What the user's filter says about the functions of an image. */
#ifndef UMBRA_REWRITER_EXCLUDE_H
#define UMBRA_REWRITER_EXCLUDE_H

#include "rewriter/format/image_format.h"
#include "rewriter/functions/filter.h"

/*
 * Gives each excluded function, if it is undecided, its reason. A function that has several names
 * is matched by each of them; one without a name by patterns for sources and modules only. The
 * filter may be null.
 */
void exclude_functions(const struct image *image, struct filter *filter);

#endif
