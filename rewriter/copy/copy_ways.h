/*
 * How often each basic block of a member runs: which of its blocks have to be counted, so that the counts of the
 * others follow.
 *
 * Blocks lead from one place, where ways meet, to another. Whatever comes to a place leaves it:
 *
 *      f:      A           ground -> 1          is counted
 *              jne  else
 *              B           1 -> 1               is counted: where A leads to is one place
 *      else:   C           1 -> ground          C + B = A + B
 *
 * At the ground, where control comes from and goes to that is not seen, this need not be so: a call need not
 * return, an exception comes from anywhere. Blocks that are a
 * spanning forest over the places are not counted (Knuth and Stevenson, Optimal measurement points for program
 * frequency counts, 1973); those in inner loops are taken first.
 */
#ifndef UMBRA_REWRITER_COPY_WAYS_H
#define UMBRA_REWRITER_COPY_WAYS_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/flow/flow.h"

#define COPY_GROUND 0

struct copy_way {
    uint32_t offset;   /* of the block, in the member */
    uint32_t from, to; /* places: COPY_GROUND, or numbers of the member's, from 1 */
    bool counts;       /* it is counted */
    bool is_known;     /* control is known to come there */
};

/* Of the blocks of a member, ascending. {0}: none. */
struct copy_ways {
    struct copy_way *items;
    size_t count, room;
    uint32_t places; /* the ground among them */
};

/* Those of a member of the plan that is copied; takes the place of what they held. */
void copy_ways_read(struct copy_ways *ways, const struct copy_plan *plan,
                    const struct patch_plan *patches, struct flow_fates *fates, uint32_t member);
/* How many blocks of all members are counted; past `most`, no more are looked at. */
size_t copy_ways_counted(const struct copy_plan *plan, const struct patch_plan *patches,
                         struct flow_fates *fates, size_t most);
void copy_ways_free(struct copy_ways *ways);

#endif
