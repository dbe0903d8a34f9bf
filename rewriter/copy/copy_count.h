/*
 * How many instructions a copied function executes: where its copy has to add how many.
 *
 * At each place of a function it is known how many instructions were executed and are not counted yet, whichever
 * way control came: `pending`. In front of a call, of a return and of a jump that leaves, these are counted
 * (frame_code.h), so that nothing is pending where a function begins and where a call returns. Where ways meet
 * that disagree, some blocks add a number to a cell of the thread's (trace/frame_format.h), so that they do agree:
 *
 *      f:      2 instructions          pending 0 -> 2
 *              jne  else                       2 -> 3
 *              4 instructions                  3 -> 7, or, as 4 are added to a cell, 3
 *      else:   1 instruction                   3 -> 4
 *              call                            4 -> 5: counted, with what is in the cell
 *
 * Blocks that need not add are the edges of a spanning forest (Knuth and Stevenson, Optimal measurement points
 * for program frequency counts, 1973) over the places where ways meet; those in inner loops are taken first.
 *
 * A call that returns has most often the same pending in front of its return, `returned`. It is not counted, as the
 * number of calls tells it: only ways that end with another one count the difference. So it is of functions that
 * are never left by an exception or by longjmp: they call none but such.
 *
 * Where no block in a loop adds, and few others do, these add to the context at once (`is_direct`): so nothing is
 * left to be taken from a cell where the function calls or returns, whether a block that adds has run or not.
 *
 * Where control comes from elsewhere (a table's entry, a landing pad, another part of the function), 0 is pending.
 * An instruction counts once, also one with a `rep` prefix.
 */
#ifndef UMBRA_REWRITER_COPY_COUNT_H
#define UMBRA_REWRITER_COPY_COUNT_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/flow/flow.h"

/* A basic block (copy_nodes.h). */
struct count_block {
    uint32_t offset; /* in the member */
    int32_t added;   /* to a cell, where it begins */
    int32_t pending; /* at its end */
    uint8_t cell;    /* that it adds to */
    uint8_t held;    /* a bit for each cell: those that may be other than 0 at its end */
    bool is_direct;  /* it adds to the context, not to a cell */
};

/* The blocks of a member, ascending. {0}: none, and nothing is counted. */
struct copy_count {
    struct count_block *blocks;
    size_t count, room;
    int32_t returned; /* the best, if each call returns */
    struct count_way {
        uint64_t target; /* of a call, or of a jump that leaves; 0: by a pointer */
        bool is_jump;
    } *ways;
    size_t way_count, way_room;
};

/* Those of a member of the plan that is copied; takes the place of what it held. */
void copy_count_read(struct copy_count *count, const struct copy_plan *plan,
                     const struct patch_plan *patches, struct flow_fates *fates, uint32_t member);
void copy_count_free(struct copy_count *count);

/* By member, what each call that returns has pending: 0 of those that count all. The caller frees it. */
int32_t *copy_count_returned(const struct copy_plan *plan, const struct patch_plan *patches,
                             struct flow_fates *fates);

#endif
