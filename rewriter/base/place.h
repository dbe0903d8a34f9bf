/*
 * Where something is to be written: a directory, held open, and a name in it. What others do to the
 * path meanwhile changes nothing.
 */
#ifndef UMBRA_REWRITER_PLACE_H
#define UMBRA_REWRITER_PLACE_H

#include <limits.h>
#include <sys/stat.h>

#include "support/failure.h"

struct place {
    int directory; /* O_PATH */
    char name[NAME_MAX + 1];
};

/* Slashes at the path's end are passed over. */
bool place_open(struct place *place, const char *path, struct failure *failure);
void place_close(struct place *place);

/* Whether there is something, a symbolic link included; then *status is what it is. */
bool place_status(const struct place *place, struct stat *status);

/* The path with another last part. False if that is longer than PATH_MAX. */
bool path_beside(char result[PATH_MAX], const char *path, const char *name);

/* The path of an open file, whatever its name is. False where there is no /proc. */
bool descriptor_path(char path[PATH_MAX], int descriptor);

/* "a file", "a directory", "a symbolic link", … */
const char *kind_text(mode_t mode);

#endif
