/* The verbs of `instrument` that work on what it wrote: --verify and --undo. */
#ifndef UMBRA_REWRITER_VERIFY_H
#define UMBRA_REWRITER_VERIFY_H

#include "rewriter/base/input_file.h"
#include "rewriter/base/output_file.h"
#include "rewriter/verify/verify_image.h"

/* Proves that an image is its original but for its instrumentation; says so on standard output. */
bool verify_file(const char *path, struct failure *failure);

/* Writes the original of an instrumented image, byte for byte. */
bool undo_file(const char *path, const char *output, bool overwrite, struct failure *failure);

/* Verifying and undoing a file that was read, whose bytes are changed. */
bool verify_image(const struct input_file *input, struct verify_result *result,
                  struct failure *failure);
bool undo_image(const struct input_file *input, struct output_file *output,
                struct failure *failure);

#endif
