/*
 * The formats a profile can be written in: one file and one row of the table each.
 *
 * A profile knows functions and call edges. A format that needs whole call paths (folded stacks,
 * pprof) gets them as profile.c does, with a visitor of its own for cost_walk.
 */
#ifndef UMBRA_GRINDER_FORMAT_H
#define UMBRA_GRINDER_FORMAT_H

#include <stdio.h>

#include "grinder/images.h"
#include "grinder/profile.h"

struct format {
    const char *name;
    /* Writes count parts of a symbolized profile from the first on. Errors stay in the stream. */
    void (*write)(FILE *stream, const struct profile *profile, const struct images *images,
                  size_t first, size_t count);
};

/* The first is the default; the last has a null name. */
extern const struct format formats[];

/* callgrind.c */
void callgrind_write(FILE *stream, const struct profile *profile, const struct images *images,
                     size_t first, size_t count);

#endif
