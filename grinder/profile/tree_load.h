/* A trace as a tree, its call sites as the original images have them, with what lies beside it:
   samples, and maps of code made at run time. */
#ifndef UMBRA_GRINDER_TREE_LOAD_H
#define UMBRA_GRINDER_TREE_LOAD_H

#include "grinder/profile/tree.h"

/* Reads the trace, whose path is borrowed, and numbers its functions in images. False: there is nothing
   to free. */
bool tree_load(struct tree *tree, const struct trace_file *file, struct images *images,
              struct failure *failure);

/* Opens it for that alone. */
bool tree_load_path(struct tree *tree, const char *path, struct images *images,
                    struct failure *failure);

#endif
