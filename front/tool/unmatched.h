/*
 * Patterns of --include, --exclude and --filter that match nothing in what was recorded: most likely
 * they are misspelt. What is in the cache does not tell, so instrument lists the recorded files again,
 * one after the other, until every pattern has matched something.
 */
#ifndef UMBRA_FRONT_UNMATCHED_H
#define UMBRA_FRONT_UNMATCHED_H

#include "front/recording/recording.h"

/* options: of instrument. Says a line for each pattern that matches nothing. Says nothing if there are
   so many files, or such large ones, that looking would take long. */
void unmatched_tell(const struct recording *recording, const struct words *options);

#endif
