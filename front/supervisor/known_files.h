/*
 * The files that the supervisor has met, by what the kernel knows them by:
 *
 *      a copy       an instrumented file, bound over its original, which stays open
 *      left alone   an original that is executed as it is
 *      being made   an original that one thread instruments; the others wait
 *
 * Used by several threads. Nothing that was met is forgotten, so what is returned stays valid.
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

/* Does not change once it is known: what is met again is another. */
struct known_file {
    struct file_id id;
    int original;           /* opened with O_PATH; -1 of one that was left alone */
    struct file_id original_id;
    char *image;            /* of a copy: its path in the recording */
    struct timespec change; /* of one that was left alone: what changes since is another file */
    struct known_file *before; /* what was known of the same file, and may be in use */
    UT_hash_handle hh;
};

/* What is known, for all that have a copy of this. */
struct known_files {
    struct known_table *table;
};

struct known_files known_files_new(void);

/* Whether both are of one file. */
bool known_is_same(const struct stat *a, const struct stat *b);

/* The copy that this is; null if it is none. */
const struct known_file *known_copy(const struct known_files *files, const struct stat *status);
/* The newest copy that lies over this one; null if there is none. */
const struct known_file *known_copy_of(const struct known_files *files,
                                       const struct stat *original);
/* Whether it was left alone. */
bool known_is_left(const struct known_files *files, const struct stat *status);

/* Takes the descriptor over, and copies the path. */
void known_add_copy(struct known_files *files, const struct stat *copy, int original,
                    const char *image);
void known_add_left(struct known_files *files, const struct stat *status);

/* This thread alone is to instrument that original, until known_end. Waits until nobody else does,
   whether or not the file is known then. */
void known_begin(struct known_files *files, const struct stat *status);
void known_end(struct known_files *files, const struct stat *status);

#endif
