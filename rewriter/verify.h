/* The verbs of `instrument` that work on what it wrote: --verify and --undo. */
#ifndef UMBRA_REWRITER_VERIFY_H
#define UMBRA_REWRITER_VERIFY_H

#include "rewriter/failure.h"

/* Proves that an image is its original but for its instrumentation; says so on standard output. */
bool verify_file(const char *path, struct failure *failure);

/* Writes the original of an instrumented image, byte for byte. */
bool undo_file(const char *path, const char *output, bool overwrite, struct failure *failure);

#endif
