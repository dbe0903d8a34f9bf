/*
 * Which functions of two recordings are the same: those of one name, whatever file they are in, so that a program
 * that was renamed or a library of another version matches; and of those without a name, the ones that have the
 * same code, or lie where the other lay (code_match.h), in two builds of a file.
 */
#ifndef UMBRA_GRINDER_MATCH_H
#define UMBRA_GRINDER_MATCH_H

#include <stdbool.h>

#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"

/* By function number, the number that stands for all that are the same, of the second recording where it has one
   without a name; to be freed. images is symbolized. The tables are of the functions of each recording. */
uint32_t *match_functions(const struct images *images, const struct cost_table *before,
                          const struct cost_table *after);

/* Whether its name is made up. */
bool match_is_nameless(const struct images *images, uint32_t function);

/* What the code of an image's functions is, as code_match.h lists them; null if it is not known. To be freed. */
uint64_t *match_codes(const struct image *image);

#endif
