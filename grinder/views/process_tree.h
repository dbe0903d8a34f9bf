/* The tree of a recording's processes, as text. */
#ifndef UMBRA_GRINDER_PROCESS_TREE_H
#define UMBRA_GRINDER_PROCESS_TREE_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/profile/process_list.h"

#define PROCESS_TREE_COLUMNS 84 /* where there is no terminal */

/* shown: the pid of the one whose profile is shown, too, marked; 0: none. note: behind their number.
   Commands are cut so that lines have no more than that many columns, or 54. Writes nothing of a single
   process; false then. */
bool process_tree_write(FILE *stream, struct process_list *list, uint32_t shown, size_t columns,
                        const char *note);

#endif
