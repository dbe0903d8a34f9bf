/*
 * Basic blocks of what is copied: whether they run, or how often.
 *
 * Whether: in a copy, one byte of memory is set where a block begins.
 *
 *      cmp  byte [rip + page + place], 0       80 3d ........ 00
 *      je   first                              0f 84 ........
 *  on:
 *
 * and, behind all copies, for each block
 *
 *  first: mov  byte [rip + page + place], 1    c6 05 ........ 01
 *      jmp  on
 *
 * It changes no register, and is the same whichever thread executes it, however often. Each time that a thread stored
 * the byte, it would be taken from the caches of others, so it is stored once; where flags are alive,
 * each time. A
 * block ends where control may go elsewhere, calls included, and where it may come from elsewhere; so
 * all of its instructions run as often as its first one, unless a fault ends it.
 *
 * How often: a word of memory is added to, for each block that copy_ways.h says,
 *
 *      lea  r, [rip + page + place]            the word in lane 0 (IMAGE_LANES)
 *      add  r, fs:[lane]
 *      inc  qword [r]
 *
 * in code that is linked to a fixed address
 *
 *      mov  r, fs:[lane]
 *      inc  qword [r + word]
 *
 * and, where there are no lanes, as threads have no room for that,
 *
 *      inc  qword [rip + page + place]
 *
 *      pages behind that of the hook word, a byte or a word a block, as a trace has them (TRACE_COVER_BYTES):
 *
 *      0                64                                      4096             4160
 *      +----------------+---------------------------------------+----------------+----
 *      | trace_block    | bytes 0 to 4031, or words 0 to 503    | trace_block    | …
 *      +----------------+---------------------------------------+----------------+----
 */
#ifndef UMBRA_REWRITER_COPY_BLOCKS_H
#define UMBRA_REWRITER_COPY_BLOCKS_H

#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_ways.h"
#include "rewriter/copy/copy_writer.h"
#include "rewriter/flow/flow.h"

/* Notes in plan->leaders where control comes from elsewhere in what is copied: all else is known of
   the plan. */
void copy_blocks_find(struct copy_plan *plan, const struct flow_source *source);

/* Jumps to what stores bytes: put behind all copies. {0}: none; copy_marks_put frees them. */
struct copy_marks {
    struct copy_mark {
        uint32_t field;  /* of the jump, at its end */
        uint32_t number; /* of the block */
    } *items;
    size_t count, room;
};

void copy_marks_put(struct copy_marks *marks, struct copy_writer *writer);

/* The blocks of a member, while its copy is written. */
struct copy_blocks {
    struct copy_writer *writer;
    struct copy_marks *marks;
    const struct copy_plan *plan;
    const struct copy_ways *ways; /* of the member, if blocks are counted */
    size_t way;                   /* the next of these */
    uint64_t address;             /* of the member */
    bool begins;     /* the next instruction begins a block */
    bool skips_lock; /* the last instruction jumps into the next, and nothing may be put between */
    bool is_open;    /* a block has begun, and not ended */
    bool is_fill;    /* all of it is padding so far, and nothing is known to come there */
};

/* Before an instruction of the original, and behind it: puts what marks the block that it begins. source: what
   flow_flags_fate reads. */
void copy_blocks_before(struct copy_blocks *blocks, const struct flow_source *source,
                        uint64_t address);
void copy_blocks_behind(struct copy_blocks *blocks, const struct instruction *at,
                        const uint8_t *bytes);
/* Behind a member's last instruction. */
void copy_blocks_end(struct copy_blocks *blocks, uint64_t address);

#endif
