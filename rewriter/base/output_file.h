/*
 * A file that appears whole or not at all. Until it is put in its place it has no name where the
 * file system can do that (O_TMPFILE), so that nothing is left of it whatever ends the process;
 * elsewhere it is beside its place under a temporary one (support/temporary.h), which a process
 * that ends early, by exit or by a signal that asks it to, removes.
 */
#ifndef UMBRA_REWRITER_OUTPUT_FILE_H
#define UMBRA_REWRITER_OUTPUT_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "rewriter/base/place.h"
#include "support/failure.h"
#include "support/temporary.h"

struct output_file {
    const char *path; /* borrowed */
    struct place place;
    int descriptor;
    int error; /* errno of what could not be written to it; else 0 */
    bool is_passing; /* of no use to anybody once this system is down: it is not flushed; false until it is set */
    char temporary[TEMPORARY_NAME_SIZE]; /* in the place's directory; empty while it has no name */
    char readable[PATH_MAX];             /* where it can be read until it is put in its place */
};

/* Without `overwrite`, whatever exists is refused; with it, all but a regular file. */
bool output_file_begin(struct output_file *file, const char *path, bool overwrite,
                       struct failure *failure);
bool output_file_write(struct output_file *file, uint64_t offset, const void *bytes, size_t size,
                       struct failure *failure);
/* Gives it the permissions of `like`, set-uid and set-gid bits aside, and flushes it to disk, unless
 * it is passing; it can be looked at by now. */
bool output_file_settle(struct output_file *file, const struct stat *like, struct failure *failure);
/* Puts it in its place. */
bool output_file_commit(struct output_file *file, bool overwrite, struct failure *failure);
/* Removes it, if it was not committed. */
void output_file_abandon(struct output_file *file);

/* Removes what killed processes left of files that were to become `path`. */
void output_file_sweep(const char *path);

#endif
