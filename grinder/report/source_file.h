/*
 * Whether a report may hold a file's text, and the file, opened.
 *
 * A module names its sources, and the module may be hostile: what it names may be the reader's
 * keys, and reports are sent to others. No path that it names proves anything, neither the folder
 * it says it was compiled in nor the one it lies in. So a file is taken
 *
 *      if everybody may read it        o+r, and o+x of each folder above it
 *      or if the reader asked for it   it lies below a --source-root, and between the two is no
 *                                      hidden folder or name (.git, .ssh, .env)
 *
 * It is looked up where it really lies, all links followed: none leads out of a --source-root.
 * The file whose mode was looked at is the one that is read, whatever is put in its place
 * meanwhile. Files in /proc and /sys are never taken.
 */
#ifndef UMBRA_GRINDER_REPORT_SOURCE_FILE_H
#define UMBRA_GRINDER_REPORT_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "support/bounded_file.h"
#include "support/failure.h"

struct source_roots {
    char **paths; /* as realpath has them */
    size_t count;
};

/* folders end with null; null: there are none. False: one is no folder, and there is nothing to
   free. */
bool source_roots_begin(struct source_roots *roots, const char *const *folders,
                        struct failure *failure);
void source_roots_free(struct source_roots *roots);

enum source_access {
    SOURCE_MISSING,  /* there is no such file, or it cannot be read */
    SOURCE_WITHHELD, /* there is, but it may not be taken */
    SOURCE_TAKEN,    /* it is open */
};

/* *real is where the file really lies, to be freed; null if it is missing. */
enum source_access source_file_open(struct bounded_file *file, const char *path,
                                    const struct source_roots *roots, char **real);

#endif
