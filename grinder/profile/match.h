/*
 * Which functions of several recordings are the same: those of one name, whatever file they are
 * in, so that a program that was renamed or a library of another version matches; and of those
 * without a name, the ones with the same bytes in the original files.
 */
#ifndef UMBRA_GRINDER_MATCH_H
#define UMBRA_GRINDER_MATCH_H

#include "grinder/profile/images.h"

/* By function number, the lowest number of one that is the same; to be freed. images is
   symbolized. */
uint32_t *match_functions(const struct images *images);

#endif
