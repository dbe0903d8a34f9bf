/*
 * Functions that never return to who called them, such as those that throw or exit: what stands behind a
 * call of one is not reached by it.
 *
 *              lea   r12, [rip + table]
 *      next:   ...
 *              jmp   [r12 + rax * 4]       one of these goes on at `next`
 *              ...
 *              mov   r12, rax              here it does not
 *              call  die
 *      other:  ...                         which also a jump leads to, with r12 as it was
 *              jmp   next
 *
 * Without that knowledge r12 would be anything at `next`.
 */
#ifndef UMBRA_REWRITER_FLOW_RETURNS_H
#define UMBRA_REWRITER_FLOW_RETURNS_H

#include "rewriter/flow/flow.h"

/* Whether that is known of a function, by its address: a compiler's that has no instruction by which it
   could return, or an import that is one by its name. */
bool flow_never_returns(const struct flow_source *source, uint64_t function);

/* Whether it is of what that slot is filled in with. */
bool flow_import_never_returns(const struct flow_source *source, uint64_t slot);

/* Whether a function of another image that has this name is one. */
bool flow_is_name_of_no_return(const char *name);

#endif
