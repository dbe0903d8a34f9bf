/*
 * A file that appears under its name whole or not at all.
 *
 *      begin     a file without a name, in the folder where it is to appear (O_TMPFILE)
 *      commit    gets its name; where there is a file of that name already, by way of a temporary
 *                name, as only rename replaces what is there
 *
 * A process that is killed in between leaves nothing, but for the moment between these two names.
 * File systems that have no files without a name get one under a temporary name at once. The next
 * whole_file_begin in that folder removes what was left behind there (support/temporary.h).
 */
#ifndef UMBRA_SUPPORT_WHOLE_FILE_H
#define UMBRA_SUPPORT_WHOLE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "support/temporary.h"

struct whole_file {
    int fd;           /* to write to; the caller's from begin on, to be closed after commit */
    int directory;    /* where it is to appear */
    bool has_name;    /* the temporary one: what a signal that ends the process may remove */
    const char *name; /* borrowed: the end of the path */
    char temporary[TEMPORARY_NAME_SIZE];
};

/* Permissions are mode without the umask; path has to last. 0, or -1 with errno set and nothing to
   end. */
int whole_file_begin(struct whole_file *file, const char *path, mode_t mode);

/* Begins a file in a directory that is open and stays so; name, without a slash, has to last. */
int whole_file_begin_in(struct whole_file *file, int directory, const char *name, mode_t mode);

/* Replaces what is at the path, a symbolic link itself. 0, or -1 with errno set and nothing left
   behind. The descriptor fd stays open. */
int whole_file_commit(struct whole_file *file);

/* Instead of commit. fd stays open. */
void whole_file_abandon(struct whole_file *file);

#endif
