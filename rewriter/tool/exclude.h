/* What the user's filter says about the functions of an image. */
#ifndef UMBRA_REWRITER_EXCLUDE_H
#define UMBRA_REWRITER_EXCLUDE_H

#include "rewriter/format/image_format.h"
#include "rewriter/format/rewrite_options.h"
#include "rewriter/functions/filter.h"

/*
 * Gives each excluded function, if it is undecided, its reason. A function that has several names
 * is matched by each of them, those of a separate debug file too; one without a name by addresses
 * and by patterns for sources and modules only. The filter may be null.
 */
void exclude_functions(struct image *image, struct filter *filter);

/* Leaves only the function by which libgcc finds a frame's unwind information, which is otherwise left alone. */
void exclude_all_but_finder(struct function_list *functions);

/* Excludes each function whose address is not one of these. */
void exclude_others(struct function_list *functions, const struct chosen_functions *only);

/* Which functions are to have each of their calls timed: those that match. The filter may be null. */
void choose_timed(struct image *image, struct filter *times);

#endif
