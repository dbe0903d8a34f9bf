/* Copies the trace of a running program: the verb snapshot. */
#ifndef UMBRA_SERVICE_SNAPSHOT_H
#define UMBRA_SERVICE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "support/failure.h"

/*
 * Copies the trace that `from` is, of that name, into a new file of this user alone, that appears
 * in directory as copy, whole or not at all, in place of what may be there.
 */
bool snapshot_copy(int from, const char *name, int directory, const char *copy,
                   struct failure *failure);

#endif
