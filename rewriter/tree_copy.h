/* Copying what is in a tree as it is. Paths are of the original and of the copy. */
#ifndef UMBRA_REWRITER_TREE_COPY_H
#define UMBRA_REWRITER_TREE_COPY_H

#include "rewriter/failure.h"

#include <sys/stat.h>

/* Content, and what copy_attributes gives it. */
bool copy_file(const char *from, const char *to, const struct stat *status,
               struct failure *failure);
bool copy_symlink(const char *from, const char *to, const struct stat *status,
                  struct failure *failure);
/* Owner as far as that is allowed, permissions, times; never a set-user-ID bit for another owner.
 */
bool copy_attributes(const char *to, const struct stat *status, struct failure *failure);

#endif
