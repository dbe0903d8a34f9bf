#include "service/recorder/snapshot.h"

#include <stdio.h>

bool snapshot_copy(int from, const char *name, int directory, const char *copy,
                   char why[SNAPSHOT_WHY_SIZE])
{
    (void)from;
    (void)directory;
    (void)copy;
    snprintf(why, SNAPSHOT_WHY_SIZE, "%.400s: snapshots are made on Linux only", name);
    return false;
}
