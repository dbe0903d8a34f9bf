/* What --mode=summary says of call-trace recordings: events, losses, and whether they balance. */
#ifndef UMBRA_GRINDER_EVENT_SUMMARY_H
#define UMBRA_GRINDER_EVENT_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/profile/profile.h"
#include "support/failure.h"

/*
 * Writes nothing for processes without events. A narrow table of threads has the columns alone that
 * most look for. False if some could not be read or do not balance, after `say` was told of each:
 * - what is left:         entries = ended + closed + open, exits + unwound = ended + orphans
 * - and if nothing was lost, of a process that is gone: the tree's entries, exits and unwound
 */
bool event_summary_write(FILE *stream, const struct profile *profile, bool is_narrow,
                         void (*say)(const struct failure *failure));

#endif
