/* The process's address space, as the kernel tells it. The caller holds the guard. */
#ifndef UMBRA_HOOKS_LINUX_MAPS_H
#define UMBRA_HOOKS_LINUX_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end;
    uint64_t offset;    /* in the file */
    char protection[4]; /* as in "r-xp" */
    const char *path;   /* "" if anonymous; valid during the visit */
};

/* Calls visit for each mapping, ascending, until it returns false. Allocates nothing from the
   host. False: the list cannot be read. */
bool maps_each(bool (*visit)(const struct mapping *mapping, void *with), void *with);

#endif
