#include "service/snapshot.h"

#include <stdio.h>

bool snapshot_copy(const char *path, const char *copy, char why[SNAPSHOT_WHY_SIZE])
{
    (void)copy;
    snprintf(why, SNAPSHOT_WHY_SIZE, "%.400s: snapshots are made on Linux only", path);
    return false;
}
