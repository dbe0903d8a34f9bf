/*
 * Counts of one recording with the times of another: of the same program, which did the same, and was not
 * instrumented then. What hooks take is in neither: they count in the one run, and are not there in the
 * other.
 */
#ifndef UMBRA_GRINDER_BORROWED_TIMES_H
#define UMBRA_GRINDER_BORROWED_TIMES_H

#include "grinder/profile/profile.h"

/*
 * Each function and edge of counts, a merged profile, gets the time that it has in times, another of the
 * same images; what it had is forgotten. Afterwards its times are of the processor, by samples.
 */
void times_borrow(struct profile *counts, const struct profile *times, const char *path);

#endif
