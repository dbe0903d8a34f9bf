/*
 * A baseline: what a deterministic program executes, function by function, as a text that is kept in a repository
 * and compared with later recordings. Columns are separated by tabs:
 *
 *      umbra-baseline  1
 *      module  code              calls  instructions  name
 *      demo    93f20c1e8b7a6d54  0      0
 *      demo    0c1e93f28b7a6d54  100    16400
 *      demo    8b7a6d5493f20c1e  1      613           main
 *      libz    -                 134    536           crc32
 *
 * Modules are in the order of their names, without folders, and functions of a module in that of their addresses,
 * which are not in it: a rebuild changes the lines of what changed. A module in which some recorded function has no
 * name has all its functions, with what their code is (code_hash.h), as they match by what surrounds them, too
 * (code_match.h). Others have those that were recorded. What is not known is `-`.
 */
#ifndef UMBRA_GRINDER_BASELINE_H
#define UMBRA_GRINDER_BASELINE_H

#include <stdbool.h>

#include "grinder/profile/profile.h"

#define BASELINE_FIRST_LINE "umbra-baseline\t1"
#define BASELINE_HEADINGS   "module\tcode\tcalls\tinstructions\tname"

/* Whether the file at path begins as one of any version. */
bool baseline_is(const char *path);

/* Adds it to a merged profile, as a process of which nothing else is known. path is borrowed. */
bool baseline_read(struct profile *profile, const char *path, struct images *images,
                   struct failure *failure);

#endif
