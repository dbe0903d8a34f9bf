/* The verb --list. */
#ifndef UMBRA_REWRITER_LISTING_H
#define UMBRA_REWRITER_LISTING_H

#include "rewriter/format/image_format.h"
#include "rewriter/format/rewrite_options.h"
#include "support/failure.h"

/*
 * Prints every function of an original or instrumented image, options->input, to standard output.
 * The filter is for an original: it says what would become of it.
 * On failure `reason` says the same as a word.
 */
bool list_file(const struct rewrite_options *options, enum instrument_reason *reason,
               struct failure *failure);

/* Prints every function of an image that was opened, as list_file does. */
bool list_image(struct image *image, const struct rewrite_options *options,
                struct failure *failure);

#endif
