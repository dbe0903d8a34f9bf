/* What instructions do to the values that registers and stack slots hold. */
#ifndef UMBRA_REWRITER_FLOW_EFFECTS_H
#define UMBRA_REWRITER_FLOW_EFFECTS_H

#include "rewriter/flow/flow_values.h"

#define HIGHEST_LIMIT 65535 /* of an index that is followed */

/* Changes what is known in front of a step to what is known behind it. `now` has room for
   MOST_SLOTS slots. */
void state_step(struct state *now, const struct step *step);

/* What a step reads from memory, zero-extended. */
struct value state_loaded(const struct state *now, const struct step *step);

#endif
