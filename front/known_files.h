/*
 * The files that the supervisor has met, by what the kernel knows them by:
 *
 *      a copy       an instrumented file, bound over its original, which stays open
 *      left alone   an original that is executed as it is
 */
#ifndef UMBRA_FRONT_KNOWN_FILES_H
#define UMBRA_FRONT_KNOWN_FILES_H

#include <stdbool.h>
#include <sys/stat.h>
#include <uthash.h>

struct file_id {
    dev_t device;
    ino_t inode;
};

struct known_file {
    struct file_id id;
    int original;           /* opened with O_PATH; -1 of one that was left alone */
    char *image;            /* of a copy: its path in the recording */
    struct timespec change; /* of one that was left alone: what changes since is another file */
    UT_hash_handle hh;
};

struct known_files {
    struct known_file *table;
};

/* The copy that this is; null if it is none. */
const struct known_file *known_copy(const struct known_files *files, const struct stat *status);
/* Whether it was left alone. */
bool known_is_left(const struct known_files *files, const struct stat *status);

/* Takes the descriptor over, and copies the path. */
void known_add_copy(struct known_files *files, const struct stat *copy, int original,
                    const char *image);
void known_add_left(struct known_files *files, const struct stat *status);

#endif
