/*
 * Paths below a directory that is open, where somebody else may put or rename things.
 *
 *      below_open(directory, "images/usr/bin/perl", …)
 *                            |      |   |   `- opened with O_NOFOLLOW
 *                            `------+---`----- each a directory, opened with O_NOFOLLOW
 *
 * No link is followed, and no path leads out: one that is absolute, or has a component "", "." or
 * "..", is refused with EINVAL. Nothing waits: a pipe is opened without its other end, and is
 * refused where a file is expected. Descriptors have FD_CLOEXEC.
 */
#ifndef UMBRA_FRONT_BELOW_H
#define UMBRA_FRONT_BELOW_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens as openat(2) does. Returns a descriptor, or -1 with errno. */
int below_open(int directory, const char *path, int flags, mode_t mode);

/* A regular file, to be read; one to append to, made for its owner alone if it is missing. EINVAL
   if it is something else. */
int below_open_file(int directory, const char *path);
int below_open_to_append(int directory, const char *path);

/* Makes the folders of a path, but not what it ends with, for their owner alone. Returns the last
   of them, opened with O_PATH, or -1 with errno; *name is the end of path. */
int below_make_folders(int directory, const char *path, const char **name);

/* Removes all that is in the directory. What cannot be removed stays. */
void below_empty(int directory);

/* Whether both descriptors are of the same file. */
bool below_is_same(int one, int other);

#endif
