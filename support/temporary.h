/*
 * Files and directories that are put together beside their final place, as
 *
 *      .NAME.umbra-XXXXXX      NAME is that of the final place, six letters or digits are chance
 *
 * Whoever makes one holds a lock on it (flock) for as long as it is open, children included. A
 * process that is killed leaves it behind without a lock: the next one that writes to the same
 * place removes it. Where a file system has no locks, nothing is taken for a leftover.
 */
#ifndef UMBRA_SUPPORT_TEMPORARY_H
#define UMBRA_SUPPORT_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>

#define TEMPORARY_NAME_SIZE (NAME_MAX + 1)

/* Each works in a directory that is open, O_PATH will do, and gives the name that it made up. */

/* A new empty file, for reading and writing by its owner. Returns its descriptor, or -1 with errno.
 */
int temporary_file(int directory, const char *name, char temporary[TEMPORARY_NAME_SIZE]);

/* A new directory. Returns its descriptor, or -1 with errno. */
int temporary_directory(int directory, const char *name, char temporary[TEMPORARY_NAME_SIZE]);

/* A name for a file that has none (O_TMPFILE). False with errno if that cannot be. */
bool temporary_link(int directory, const char *name, int descriptor,
                    char temporary[TEMPORARY_NAME_SIZE]);

/* Whether that is still the name of what is open. */
bool temporary_is(int descriptor, int directory, const char *temporary);

/* Removes what was left behind by processes of the same user that would have become `name`. */
void temporary_sweep(int directory, const char *name);

/* Removes files alone, whatever they would have become, that such processes left behind: for who
   writes many into a directory. */
void temporary_sweep_files(int directory);

/* Removes a file, or a directory with all that is in it. No symbolic link is followed, also none
   that comes to be meanwhile. */
void temporary_remove(int directory, const char *temporary);

#endif
