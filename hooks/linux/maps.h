/* The process's address space, as the kernel tells it. */
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

/* A line is at most 73 characters and a path of 4096, escapes included. */
#define MAPS_BUFFER 8192

/* What reading it takes: too large for a signal stack. */
struct maps_reader {
    long file;
    uint32_t at, filled;
    char buffer[MAPS_BUFFER + 1];
};

/* Calls visit for each mapping, ascending, until it returns false. Allocates nothing from the
   host. False: the list cannot be read. */
bool maps_each_with(struct maps_reader *reader,
                    bool (*visit)(const struct mapping *mapping, void *with), void *with);

/* Calls visit as maps_each_with does; the caller holds the guard. */
bool maps_each(bool (*visit)(const struct mapping *mapping, void *with), void *with);

#endif
