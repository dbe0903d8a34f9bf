/*
 * An independent opinion on an image that was written: LIEF parses it and compares what it finds
 * with what was meant. A hostile file may make LIEF crash or hang, so it works in a child process
 * with a limit on memory and time.
 */
#ifndef UMBRA_REWRITER_JUDGE_H
#define UMBRA_REWRITER_JUDGE_H

#include "rewriter/verify/judge_lief.h"
#include "support/failure.h"

/* `path` is what LIEF reads; `name` what messages call it. */
bool judge_image(const char *path, const char *name, const struct judge_expectation *expected,
                 struct failure *failure);

#endif
