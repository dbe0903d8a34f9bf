/*
 * Basic blocks of what is copied: in a copy, one byte of memory is set where a block begins.
 *
 *      mov  byte [rip + page + place], 1       c6 05 ........ 01
 *
 * It changes no flag and no register, and is the same whichever thread executes it, however often. A
 * block ends where control may go elsewhere, calls included, and where it may come from elsewhere; so
 * all of its instructions run as often as its first one, unless a fault ends it.
 *
 *      pages behind that of the hook word, a byte a block, as a trace has them (trace_cover):
 *
 *      0                64                                      4096             4160
 *      +----------------+---------------------------------------+----------------+----
 *      | trace_block    | blocks 0 to 4031                      | trace_block    | 4032 …
 *      +----------------+---------------------------------------+----------------+----
 */
#ifndef UMBRA_REWRITER_COPY_BLOCKS_H
#define UMBRA_REWRITER_COPY_BLOCKS_H

#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_writer.h"
#include "rewriter/flow/flow.h"

/* Notes in plan->leaders where control comes from elsewhere in what is copied: all else is known of
   the plan. */
void copy_blocks_find(struct copy_plan *plan, const struct flow_source *source);

/* The blocks of a member, while its copy is written. */
struct copy_blocks {
    struct copy_writer *writer;
    const struct copy_plan *plan;
    bool begins;     /* the next instruction begins a block */
    bool skips_lock; /* the last instruction jumps into the next, and nothing may be put between */
    bool is_open;    /* a block has begun, and not ended */
    bool is_fill;    /* all of it is padding so far, and nothing is known to come there */
};

/* Before an instruction of the original, and behind it: puts what marks the block that it begins. */
void copy_blocks_before(struct copy_blocks *blocks, uint64_t address);
void copy_blocks_behind(struct copy_blocks *blocks, const struct instruction *at,
                        const uint8_t *bytes);
/* Behind a member's last instruction. */
void copy_blocks_end(struct copy_blocks *blocks, uint64_t address);

#endif
