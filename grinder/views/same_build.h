/*
 * Two recordings of the same build: what differs between them the program does differently from run to run, so that
 * a gate by exact counts would be blind to less than that.
 */
#ifndef UMBRA_GRINDER_SAME_BUILD_H
#define UMBRA_GRINDER_SAME_BUILD_H

#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"

/* Whether the functions of both merged profiles are of the same files, by their content. False, too, for a baseline
   that does not know. */
bool same_build(const struct images *images, const struct profile *left,
                const struct profile *right);

/* Why such recordings may differ, and what helps: a list in words, to be freed. What the recordings tell of it comes
   first. */
char *same_build_causes(const struct images *images, const struct profile *left,
                        const struct profile *right);

#endif
