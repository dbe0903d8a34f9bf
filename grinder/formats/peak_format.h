/* --mode=stack: the peaks of a profile's threads, as a table to read, as one to compute with, or as
 * JSON. */
#ifndef UMBRA_GRINDER_PEAK_FORMAT_H
#define UMBRA_GRINDER_PEAK_FORMAT_H

#include <stdio.h>

#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"

struct peak_format {
    const char *name;
    /* Writes a symbolized profile that keeps peaks. Errors stay in the stream. */
    void (*write)(FILE *stream, const struct profile *profile, const struct images *images);
};

/* Null if there is none of that name; without a name the one for a terminal, or for a file. */
const struct peak_format *peak_format_named(const char *name, bool to_terminal);

#endif
