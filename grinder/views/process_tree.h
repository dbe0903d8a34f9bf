/* The tree of a recording's processes, as text. */
#ifndef UMBRA_GRINDER_PROCESS_TREE_H
#define UMBRA_GRINDER_PROCESS_TREE_H

#include <stdio.h>

#include "grinder/profile/process_list.h"

/* shown: the pid of the one whose profile follows, marked; 0: none. Nothing of a single process. */
void process_tree_write(FILE *stream, struct process_list *list, uint32_t shown);

#endif
