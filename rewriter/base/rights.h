/*
 * Rights that a file gives to whoever runs it: the set-uid and set-gid bits, file capabilities. No
 * file that instrument writes or copies has any: an instrumented program also runs the agent's
 * code, and a copy would be a second way to those rights.
 */
#ifndef UMBRA_REWRITER_RIGHTS_H
#define UMBRA_REWRITER_RIGHTS_H

#include <sys/stat.h>

#define RIGHTS_SET_UID      1u
#define RIGHTS_SET_GID      2u
#define RIGHTS_CAPABILITIES 4u

/* Returns those of an open file. */
unsigned rights_of(int descriptor, const struct stat *status);

/* Says which the file at `path` lends, and what was written does not. */
void rights_say_dropped(const char *path, unsigned rights);

#endif
