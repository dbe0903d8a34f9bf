/*
 * Thunks and their records: which invocation has which, and when one may be used again.
 * The layout is in layout.h, the rules of liveness are in stash.c.
 *
 * A stash belongs to one thread. Its functions are called by that thread only, from a slow path
 * (thread.h), and never block. No function here touches a stack or a context tree.
 */
#ifndef UMBRA_THUNKSTASH_STASH_H
#define UMBRA_THUNKSTASH_STASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "thunkstash/layout.h"
#include "thunkstash/record.h"

struct trace_node;

/*
 * ordered: on the thread's own stack; records are in the order of their slots.
 * Otherwise: coroutines, fibers, alternate signal stacks; records in any order.
 */
struct stash {
    struct record *top;    /* ordered: youngest record, or the first block's sentinel;
                              else the record that was touched last, or null */
    struct record *free;   /* not ordered: chained by `below` */
    struct record *bridge; /* ordered: the youngest one; null if there is none */
    /* Ordered: records that were found to be parked, one behind the other, in vain. */
    struct {
        uint64_t first;     /* position */
        struct record *end; /* the first one behind them */
    } run;
    uint32_t first_block; /* number + 1; 0: none */
    uint32_t last_block;
    struct trace_node *root; /* context of the sentinel, and of records not used yet */
    uint32_t session;        /* fork generation in which the stash began */
    bool ordered;
};

/* range: STASH_RANGE_SIZE bytes, reserved for good; code: what blocks are mapped from (pages.h).
   False, if one of them is null: no thunks can be had. */
bool stash_prepare(char *range, void *code);

/* The range's address; 0 before it was prepared. */
uint64_t stash_range(void);

/* What thunks jump to, of stashes that begin from now on. */
void stash_set_exit_hook(void (*exit_hook)(void));

/* What the thunks of this stash jump to from now on, while its thread may be returning through
 * them. */
void stash_change_exit_hook(struct stash *stash, void (*exit_hook)(void));

/* root: the context below which the stash's first records are. False: no block left. */
bool stash_begin(struct stash *stash, bool ordered, uint32_t session, struct trace_node *root);

/* Gives the blocks back. Nothing may return through them any more. */
void stash_release(struct stash *stash);

/* Is this parked record's invocation certainly over? Then it was counted. */
struct reclaim {
    bool (*is_over)(struct record *record, void *with);
    void *with;
};

/* Ordered: a record above the top, its slot SLOT_FREE, and makes it the top; parked ones that
   are in the way are asked about. Not ordered: any free record. Null: no room. */
struct record *stash_push(struct stash *stash, const struct reclaim *reclaim);

/* Ordered: frees the top; what is below it becomes the top. */
void stash_pop(struct stash *stash);

/* Ordered: what is below the top becomes the top, but the old one is not free: its invocation may
   go on. */
void stash_park(struct stash *stash);

/* From now on the records have no order. Each live one's `below` is the one below it; the top is
   null, and nothing is pushed any more. */
void stash_lose_order(struct stash *stash);

/* Not ordered: frees this one. */
void stash_free(struct stash *stash, struct record *record);

/* Ordered: moves the top to the record that it repeats, if it is a bridge or the sentinel of a
   later block. The hot path leaves it there. */
void stash_settle(struct stash *stash);

/* Ordered: the record of the invocation below, or the first block's sentinel. Null below that
   one. */
struct record *stash_below(const struct record *record);

bool record_is_sentinel(const struct record *record);

/* The stash that a record was given out by. */
struct stash *record_owner(const struct record *record);
uint32_t record_session(const struct record *record);

/* The record whose thunk's return address this is; null if it is none. */
struct record *record_of_return(uint64_t address);

static inline bool record_is_live(const struct record *record)
{
    return (int64_t)record->slot > 0;
}

static inline bool record_is_parked(const struct record *record)
{
    return record->slot == SLOT_PARKED;
}

/* Address of the return-address slot; above any stack if there is no live invocation. */
static inline uint64_t record_slot(const struct record *record)
{
    return record->slot - SLOT_BIAS;
}

static inline uint64_t record_thunk(const struct record *record)
{
    return (uintptr_t)record - RECORD_DISTANCE;
}

/* Ordered: how many invocations there are up to the top, in a slow path. */
uint32_t stash_depth(const struct stash *stash);

/* Calls visit for every record of the stash but sentinels and bridges, live or not. */
void stash_each(struct stash *stash, void (*visit)(struct record *record, void *with), void *with);

#endif
