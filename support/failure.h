/*
 * Why something could not be done: one line for the user, without an end of line. What may fail for
 * such a reason returns bool and takes a `struct failure *`: whoever returns false has filled it in,
 * and whoever called decides what becomes of it, down to whether anybody reads it. (Null or -1 in
 * place of false, of functions that return a pointer or a number.) What may fail several times and
 * goes on hands each failure to a function of its caller. What outlives the call, as the problem of
 * an image does, is a copy of the text.
 */
#ifndef UMBRA_SUPPORT_FAILURE_H
#define UMBRA_SUPPORT_FAILURE_H

#include <stdbool.h>

/* mingw-w64 has two families of printf; _GNU_SOURCE takes the one that knows C99's formats. */
#ifdef _WIN32
#define FAILURE_PRINTF gnu_printf
#else
#define FAILURE_PRINTF printf
#endif

struct failure {
    char text[1400]; /* "FILE: what was expected, what was found, what to do" */
};

/* Fills in `failure` as "path: text". Always false, so that callers can return it; errno stays. */
bool fail(struct failure *failure, const char *path, const char *format, ...)
    __attribute__((format(FAILURE_PRINTF, 3, 4)));

/* Fills in `failure` as "text" alone, which goes on from a path ("is not a PE file"): for those who do not know
   the path, and for those whose caller has more to say behind it. Always false; errno stays. */
bool fail_because(struct failure *failure, const char *format, ...)
    __attribute__((format(FAILURE_PRINTF, 2, 3)));

#endif
