/*
 * A file that appears whole or not at all (support/whole_file.h). "-" is standard output; devices
 * and pipes are written as they are. A signal that ends the grinder leaves nothing behind.
 */
#ifndef UMBRA_GRINDER_OUTPUT_H
#define UMBRA_GRINDER_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "support/failure.h"
#include "support/whole_file.h"

struct output {
    const char *path; /* borrowed */
    FILE *stream;
    char *target;           /* where it will appear; null if it is written in place */
    struct whole_file file; /* that will be there; stream has its descriptor, too */
};

/* A symbolic link to a file stays, and the file that it names is replaced. */
bool output_open(struct output *output, const char *path, struct failure *failure);

/* Opens a file that its owner alone may read, also if it replaces one that others may. A link is
   replaced itself. */
bool output_open_private(struct output *output, const char *path, struct failure *failure);

/* Puts the file in its place. False, with nothing left behind, if that or an earlier write failed.
 */
bool output_commit(struct output *output, struct failure *failure);

#endif
