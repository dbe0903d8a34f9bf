/*
 * A directory that appears whole or not at all. It is filled under a temporary name beside its
 * final place, in a child process: whatever ends the child, a signal or a file that crashes it,
 * its parent is there to remove what was begun, or to put it in its place.
 */
#ifndef UMBRA_REWRITER_TREE_KEEPER_H
#define UMBRA_REWRITER_TREE_KEEPER_H

#include <stddef.h>

#include "support/failure.h"

struct tree_work {
    const char *path; /* the final place */
    bool overwrite;   /* a directory that stands there is replaced */
    /* Fills `directory`, which is empty; in the child. *result is shared with the parent. */
    bool (*fill)(const char *directory, const void *context, void *result, struct failure *failure);
    const void *context;
    size_t result_size;
};

bool tree_keep(const struct tree_work *work, void *result, struct failure *failure);

#endif
