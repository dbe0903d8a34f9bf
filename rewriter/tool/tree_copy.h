/* Copying what is in a tree as it is. Paths are of the original and of the copy. */
#ifndef UMBRA_REWRITER_TREE_COPY_H
#define UMBRA_REWRITER_TREE_COPY_H

#include <sys/stat.h>

#include "support/failure.h"

/* Content of the open file `from`, and what copy_attributes gives it. Says what rights it does not
 * lend any more. */
bool copy_file(int descriptor, const char *from, const char *to, const struct stat *status,
               struct failure *failure);
bool copy_symlink(const char *from, const char *to, const struct stat *status,
                  struct failure *failure);
/* Owner as far as that is allowed, permissions, times. Of the other bits a directory keeps its own,
   which say who may remove what in it and to which group new files belong; a file loses them. */
bool copy_attributes(const char *to, const struct stat *status, struct failure *failure);

#endif
