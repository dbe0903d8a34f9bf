/*
 * A trace that was made from whole stacks (TRACE_OF_STACKS), as a tree: contexts are the ways by which the
 * samples came to be where they were. A context's calls are not known: in their place is how many samples were
 * taken in the context itself, so that what is shown of calls elsewhere is samples here.
 */
#ifndef UMBRA_GRINDER_STACKED_TREE_H
#define UMBRA_GRINDER_STACKED_TREE_H

#include "grinder/profile/tree.h"

/* Adds the stacks that lie beside the trace, if the tree is of such a trace. A file that is damaged, or of
   another recording, is named in a message, and what can be had of it is there. */
void stacked_tree_add(struct tree *tree, struct images *images);

#endif
