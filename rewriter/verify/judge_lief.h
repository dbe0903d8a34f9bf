/*
 * The part of the judge that speaks to LIEF, whose C headers define a `bool` of their own and so
 * go with nobody else's. Runs in the judge's child process.
 */
#ifndef UMBRA_REWRITER_JUDGE_LIEF_H
#define UMBRA_REWRITER_JUDGE_LIEF_H

#include <stddef.h>

struct judge_expectation {
    size_t size; /* bytes of the file */
    int is_pe;
    size_t segments; /* program headers; of a PE image 0 */
    size_t sections;
    const char *needed; /* the first library it loads */
};

/* Also the child's exit status. */
enum verdict {
    VERDICT_WELL_FORMED = 0,
    VERDICT_UNREADABLE = 10,
    VERDICT_SEGMENTS,
    VERDICT_SECTIONS,
    VERDICT_LIBRARIES,
};

enum verdict judge_lief(const char *path, const struct judge_expectation *expected);
enum verdict judge_lief_pe(const char *path, const struct judge_expectation *expected);

#endif
