/* The formats that coverage can be written in: one row of the table each. */
#ifndef UMBRA_GRINDER_COVERAGE_FORMAT_H
#define UMBRA_GRINDER_COVERAGE_FORMAT_H

#include <stdio.h>

#include "grinder/coverage/coverage.h"

struct coverage_format {
    const char *name;
    /* `top` functions at most, where it is for people. Errors stay in the stream. */
    void (*write)(FILE *stream, const struct coverage *coverage, size_t top);
    bool needs_counts; /* coverage->is_counted */
};

/* Null: none of that name; a null name is the default's. */
const struct coverage_format *coverage_format_named(const char *name);

#endif
