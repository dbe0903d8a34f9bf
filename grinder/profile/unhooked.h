/* Functions whose hooks were out for a while (trace/unhooked_format.h): their calls are at least those counted. */
#ifndef UMBRA_GRINDER_UNHOOKED_H
#define UMBRA_GRINDER_UNHOOKED_H

#include "grinder/profile/tree.h"
#include "support/bounded_file.h"

/* Reads what lies beside the trace, if anything does: sets `has_more_calls` of its functions in images, and
   tree->unhooked. A file that is no such list is said, and left out. */
void unhooked_read(struct tree *tree, struct images *images);

/* The same of such a file. False: it is no such list, or that of another trace, or damaged; nothing is set. */
bool unhooked_take(struct tree *tree, struct images *images, const struct bounded_file *file);

#endif
