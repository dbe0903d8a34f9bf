/*
 * Calls that were under way when a program was attached to. They were not counted, so they have no contexts, and what
 * they go on to call stands below the thread's root. Their stacks were kept (service/attach/linux/attach_stacks.h):
 * a context for each of those calls is put there, and what has its call site in one of them goes below that:
 *
 *      root                            root
 *       |         site                  |
 *       +-- parse 5581.. in run    ->   +-- main             calls 0, self 0
 *       +-- flush 5582.. in main        |    +-- run         calls 0, self 0
 *       +-- tick  5590.. in handle      |    |    +-- parse
 *                                       |    +-- flush
 *                                       +-- tick
 *
 * So all sums remain what they are. Where a function is there twice, the inner one has what it calls.
 */
#ifndef UMBRA_GRINDER_UNDER_WAY_H
#define UMBRA_GRINDER_UNDER_WAY_H

#include "grinder/profile/images.h"
#include "grinder/profile/tree.h"

/* Adds contexts and functions, if the trace is of a program that was attached to. A file that is damaged is named in a
   message. */
void under_way_add(struct tree *tree, struct images *images);

#endif
