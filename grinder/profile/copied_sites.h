/*
 * Call sites in copies of functions' bodies (docs/copies.md), as sites of the original.
 *
 * Calls from a copy have return addresses in the copy. The manifest says which one of the original
 * each stands for. A call is in a copy twice, so two contexts of one parent may be the same; and in
 * a process that was paused, the same call may come from the copy and from the original:
 *
 *      main                               main
 *       +-- parse  copy of main + 0x21     +-- parse  main + 0x14       calls 3 + 1
 *       |    +-- next                ->         +-- next
 *       +-- parse  copy of main + 0x2b          +-- free
 *            +-- free
 *
 * Contexts that are the same become one, which has the sums of their figures and the children of
 * all. One that is folded and one that is not are not the same.
 */
#ifndef UMBRA_GRINDER_COPIED_SITES_H
#define UMBRA_GRINDER_COPIED_SITES_H

#include "grinder/profile/images.h"
#include "grinder/profile/tree.h"

/* Contexts that became part of another one are no longer below their parents, and count no more.
   Their children keep them as parents, so that tree_nodes has what was recorded. */
void copied_sites_resolve(struct tree *tree, const struct images *images);

#endif
