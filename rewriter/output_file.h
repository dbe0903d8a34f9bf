/*
 * A file that appears whole or not at all: written beside its final place under a temporary name,
 * then renamed. A process that ends early, by exit or by a signal that asks it to, removes it.
 */
#ifndef UMBRA_REWRITER_OUTPUT_FILE_H
#define UMBRA_REWRITER_OUTPUT_FILE_H

#include "rewriter/failure.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct output_file {
    const char *path; /* borrowed */
    char temporary[PATH_MAX];
    int descriptor;
};

/* Without `overwrite`, an existing file is refused. */
bool output_file_begin(struct output_file *file, const char *path, bool overwrite,
                       struct failure *failure);
bool output_file_write(struct output_file *file, uint64_t offset, const void *bytes, size_t size,
                       struct failure *failure);
/* Gives it the permissions of `like` and flushes it to disk; it can be looked at by now. */
bool output_file_settle(struct output_file *file, const struct stat *like, struct failure *failure);
/* Puts it in its place. */
bool output_file_commit(struct output_file *file, bool overwrite, struct failure *failure);
/* Removes it, if it was not committed. */
void output_file_abandon(struct output_file *file);

#endif
