/* Functions of a recording without calls, as a tree of contexts: how often each ran, and its instructions. */
#ifndef UMBRA_GRINDER_COVERAGE_TREE_H
#define UMBRA_GRINDER_COVERAGE_TREE_H

#include "grinder/profile/tree.h"

/*
 * If a trace has counts of blocks and no calls (`instrument --count=instructions --no-calls`), gives its tree a
 * thread that stands for all of them, which has called each function: as often as its first block ran. Leaves
 * other trees as they are.
 */
void coverage_fill_tree(struct tree *tree, struct images *images);

#endif
