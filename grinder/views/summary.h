/* --mode=summary: what each trace, process and thread came to, and the hottest functions. */
#ifndef UMBRA_GRINDER_SUMMARY_H
#define UMBRA_GRINDER_SUMMARY_H

#include <stdio.h>

#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"

/* Writes the summary of a merged, symbolized profile, with the top hottest functions. */
void summary_write(FILE *stream, const struct profile *profile, const struct images *images,
                   size_t top);

#endif
