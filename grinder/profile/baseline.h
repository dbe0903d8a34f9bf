/*
 * A baseline: what a deterministic program executes, function by function, as a text that is kept in a repository
 * and compared with later recordings. Columns are separated by tabs:
 *
 *      umbra-baseline  2
 *      module  code              calls  instructions  name
 *      demo    93f20c1e8b7a6d54  0      0
 *      demo    0c1e93f28b7a6d54  100    16400
 *      demo    8b7a6d5493f20c1e  1      613           main
 *      libz    -                 134    536           crc32
 *      build             module
 *      5f0c1e93b2a87d64  demo
 *      e93f20c18b7a6d54  libz
 *      depth   calls  instructions  function
 *      1       1      613           main
 *      2       100    16400         0c1e93f28b7a6d54
 *
 * Modules are in the order of their names, without folders, and functions of a module in that of their addresses,
 * which are not in it: a rebuild changes the lines of what changed. A module in which some recorded function has no
 * name has all its functions, with what their code is (code_hash.h), as they match by what surrounds them, too
 * (code_match.h). Others have those that were recorded. What is not known is `-`.
 *
 * Builds follow, hashes of the files that were instrumented, by which two recordings of one build are told.
 *
 * Calling contexts follow, callees behind their callers: those with a 10,000th of all calls or instructions
 * themselves, and what leads to them. Functions are spelt as baseline_rows.h does it; `-` is STACK_CUT. There
 * are none where no calls were recorded, and neither contexts nor builds in version 1.
 */
#ifndef UMBRA_GRINDER_BASELINE_H
#define UMBRA_GRINDER_BASELINE_H

#include <stdbool.h>

#include "grinder/profile/profile.h"

#define BASELINE_FIRST_LINE "umbra-baseline\t2"
#define BASELINE_FIRST_LINE_1 "umbra-baseline\t1" /* it is read, too */
#define BASELINE_HEADINGS   "module\tcode\tcalls\tinstructions\tname"
#define BASELINE_BUILDS       "build\tmodule"
#define BASELINE_CONTEXTS   "depth\tcalls\tinstructions\tfunction"

/* Whether a context is large enough, by its share of all calls or of all instructions. */
static inline bool baseline_has_context(uint64_t own, uint64_t all)
{
    return own && (long double)own * 10000 >= (long double)all;
}

/* Whether the file at path begins as one of any version. */
bool baseline_is(const char *path);

/* Adds it to a merged profile, as a process of which nothing else is known. path is borrowed. */
bool baseline_read(struct profile *profile, const char *path, struct images *images,
                   struct failure *failure);

#endif
