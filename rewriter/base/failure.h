/*
 * Why something could not be done: one line for the user. Functions that may fail return bool and
 * take a `struct failure *`; whoever returns false has filled it in.
 */
#ifndef UMBRA_REWRITER_FAILURE_H
#define UMBRA_REWRITER_FAILURE_H

#include <stdbool.h>

struct failure {
    char text[1024]; /* "FILE: what was expected, what was found, what to do" */
};

/* Fills in `failure` as "path: text"; always false, so that callers can return it. */
bool fail(struct failure *failure, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
