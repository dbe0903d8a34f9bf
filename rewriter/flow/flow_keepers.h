/*
 * Functions that have to leave flags as they are, since a caller has set some before the call, and
 * reads them behind it: assembly's. Compilers know none.
 *
 *      ask:    test  edi, 1            keep:   lea   edi, [rdi + 1]
 *              call  keep                      call  keep_too
 *              jne   odd                       ret
 *
 * What stands in front of a call in a copy changes flags.
 */
#ifndef UMBRA_REWRITER_FLOW_KEEPERS_H
#define UMBRA_REWRITER_FLOW_KEEPERS_H

#include "rewriter/flow/flow.h"

/* Which functions of the source's list are some, by the calls of all functions, hooked or not. What
   is called by a pointer, or from another image, is not known to be one. The caller frees it. */
bool *flow_keepers_find(const struct flow_source *source);

/* Which functions return flags that a caller reads: the same, of all that a call returns from with flags
   alive. */
bool *flow_keepers_find_returning(const struct flow_source *source);

#endif
