/* The verb of `instrument` that needs no option: rewriting an image. */
#ifndef UMBRA_REWRITER_REWRITE_H
#define UMBRA_REWRITER_REWRITE_H

#include "rewriter/format/image_format.h"
#include "rewriter/format/rewrite_options.h"
#include "support/failure.h"

bool rewrite_file(const struct rewrite_options *options, struct rewrite_result *result,
                  struct failure *failure);

/* Says what got lost. */
void rewrite_say_losses(const char *input, const struct rewrite_result *result);

/*
 * Writes an image that was opened and is fit, instrumented; says what the judge should find in it.
 * Changes the input's bytes.
 */
bool rewrite_image(struct image *image, const struct rewrite_options *options,
                   const struct agent *agent, struct output_file *output,
                   struct rewrite_result *result, struct judge_expectation *expected,
                   struct failure *failure);

#endif
