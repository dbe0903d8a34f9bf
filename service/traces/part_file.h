/*
 * A file that appears under its name whole or not at all (Linux). Until then it is
 *
 *      .NAME.part-PID      beside it, and locked (flock) by whoever writes it
 *
 * so that one left by a process that was killed can be told from one in use.
 */
#ifndef UMBRA_SERVICE_PART_FILE_H
#define UMBRA_SERVICE_PART_FILE_H

#include <stdbool.h>

#define PART_FILE_NAME_SIZE 256 /* NAME_MAX + 1 */

struct part_file {
    int fd; /* to write to; -1 if there is none */
    int directory;
    char name[PART_FILE_NAME_SIZE]; /* of the part */
};

/* Begins one in directory, for this user alone. Returns false, errno set, nothing left behind. */
bool part_file_begin(struct part_file *part, int directory, const char *name);

/* Gives it its name, in place of what is there, and closes it. Returns false, errno set, nothing
   left behind. */
bool part_file_finish(struct part_file *part, const char *name);

/* Closes and removes it, if there is one. Keeps errno. */
void part_file_abandon(struct part_file *part);

/* Removes from a directory what killed processes of this user have left. */
void part_file_clean(int directory);

#endif
