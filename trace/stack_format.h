/*
 * How deep a thread's stack was, and by which calls: blocks of kind TRACE_BLOCK_STACK.
 *
 * The stack is measured where recorded functions are entered: what counts is the address of the
 * return address, and the lowest one so far is the thread's peak. So does the stack pointer where a
 * copied body calls something that is not recorded. Each time the peak is passed, the thread's live
 * calls are noted, the outermost first: the *chain*.
 *
 *      stack, high to low      position    entry
 *      high  +------------+
 *            |            |
 *            +------------+ S0     0       depth (high - S0) / 4, node of main
 *            |            |                               \
 *            |            |                                > main used S0 - S1 bytes
 *            +------------+ S1     1       depth (high - S1) / 4, node of f
 *            |            |
 *            +------------+ S2     2       depth (high - S2) / 4, node of g: the peak
 *            | g's frame  |                not seen, unless it calls what is recorded
 *
 * A block, its entries by *place*; the block's `first` is the place of its first one:
 *
 *      0             64         80         96                             4096
 *      +-------------+----------+----------+---------- … -----------------+
 *      | trace_stack | entry    | entry    |                              |
 *      +-------------+----------+----------+---------- … -----------------+
 *
 * Of a chain longer than STACK_KEPT the outermost STACK_OUTER entries and the innermost ones are
 * kept, these in a ring:
 *
 *      place    0 … STACK_OUTER - 1          STACK_OUTER … STACK_KEPT - 1
 *      holds    position = place             position = place + n * STACK_INNER, the highest one
 *
 * A thread may be killed, or its trace copied, at any moment. The first block's `chain` says in one
 * word how many entries the chain has and the check of the last, and each check is a hash of the
 * entry and of the check before it. So a reader knows which entries belong to the chain, from the
 * innermost one outwards. A writer adds entries first and then changes `chain`. Where it has to
 * replace some
 *
 *      and writes STACK_IN_PLACE or fewer, it cuts `chain` to those that stay before it does: a
 *      thread that is killed just then leaves the outer part of a chain, which ends above `lowest`;
 *
 *      and writes more, it does so in the thread's other *copy*, with blocks of its own, which then
 *      gets the higher `sequence`: it is the one to look at from then on.
 */
#ifndef UMBRA_TRACE_STACK_FORMAT_H
#define UMBRA_TRACE_STACK_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_format.h"

#define STACK_OUTER         49152u
#define STACK_INNER         16384u
#define STACK_KEPT          (STACK_OUTER + STACK_INNER)
#define STACK_BLOCK_ENTRIES 252u
#define STACK_MOST_BLOCKS   ((STACK_KEPT + STACK_BLOCK_ENTRIES - 1) / STACK_BLOCK_ENTRIES)
#define STACK_DEPTH_UNIT    4 /* bytes */
#define STACK_COPIES        2
#define STACK_IN_PLACE      32 /* entries */

/* Unit 0 of a block. Fields from `high` on are those of a copy's block with `first` 0. */
struct trace_stack {
    uint32_t kind, thread, used; /* as in trace_block */
    uint32_t first;              /* place of the first entry, a multiple of STACK_BLOCK_ENTRIES */
    uint64_t high;               /* address where the stack ends */
    uint64_t size;        /* bytes that it may take, as known when the thread was first seen */
    uint64_t lowest;      /* in copy 0: the peak is high - lowest */
    uint64_t chain;       /* entries of the chain, and the last one's check << 32 */
    uint32_t outer_check; /* that of position STACK_OUTER - 1, if the chain is longer */
    uint32_t sequence;    /* the copy with the higher one has the chain */
    uint32_t copy;        /* in every block: less than STACK_COPIES */
    uint32_t reserved;
};

struct trace_stack_entry {
    uint32_t depth;  /* of the return address, in STACK_DEPTH_UNITs; 0: this call was ending */
    uint32_t node;   /* index of its context */
    uint32_t number; /* of this call among the node's; of a frame of a copied body 0 */
    uint32_t check;
};

static inline uint32_t stack_place(uint32_t position)
{
    return position < STACK_KEPT ? position : STACK_OUTER + (position - STACK_OUTER) % STACK_INNER;
}

/* Whether an entry of a chain of count entries is kept. */
static inline bool stack_is_kept(uint32_t position, uint32_t count)
{
    return position < STACK_OUTER || count - position <= STACK_INNER;
}

/* The check that belongs to an entry behind one with the check `outer`, 0 for none. */
static inline uint32_t stack_check(uint32_t outer, const struct trace_stack_entry *entry)
{
    uint64_t hash = ((uint64_t)outer << 32 | entry->depth) * 0x9e3779b97f4a7c15;

    hash = (hash ^ hash >> 29 ^ ((uint64_t)entry->node << 32 | entry->number)) * 0xbf58476d1ce4e5b9;
    return (uint32_t)(hash >> 32);
}

_Static_assert(sizeof(struct trace_stack) == TRACE_UNIT, "a unit");
_Static_assert(sizeof(struct trace_stack) +
                       STACK_BLOCK_ENTRIES * sizeof(struct trace_stack_entry) ==
                   TRACE_BLOCK_SIZE,
               "a block");

#endif
