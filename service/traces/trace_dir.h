/* The directory that traces are written to. */
#ifndef UMBRA_SERVICE_TRACE_DIR_H
#define UMBRA_SERVICE_TRACE_DIR_H

#include <stdbool.h>
#include <stddef.h>

struct trace_dir {
    struct trace_dir *next; /* utlist; of directories that adopted sessions have */
    int fd;
    char *path;    /* absolute */
    bool is_fixed; /* it was given by a descriptor: its path is only shown */
};

/*
 * Opens it, or makes it, for this user alone. Returns false after one message. A path that begins
 * with /proc/self/fd/ is fixed: where others may rename things, what it leads to by its name later
 * may be another directory.
 */
bool trace_dir_open(struct trace_dir *directory, const char *path);

/* If it was removed or renamed, and there is one of that path again: goes on with that one. Not if
   it is fixed. */
void trace_dir_find_again(struct trace_dir *directory);

/* Writes the path of a file in it. Returns false, errno set, if there is no room for it. */
bool trace_dir_path(const struct trace_dir *directory, const char *name, char *path, size_t size);

void trace_dir_close(struct trace_dir *directory);

#endif
