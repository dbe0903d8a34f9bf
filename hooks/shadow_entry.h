/* What the shadow of a stack (shadow.h) consists of. */
#ifndef UMBRA_HOOKS_SHADOW_ENTRY_H
#define UMBRA_HOOKS_SHADOW_ENTRY_H

#include "hooks/thread.h"

/*
 * How a frame is counted, so that a hook that never goes on (a handler has left it by longjmp) has
 * counted it, or not, and whoever finds the frame in the chain knows:
 *
 *      begins            time = ~node.calls, caller = slot, node.calls + 1, time
 *      ends              ret = ~node.exits, node.exits + 1, caller = below
 *      gets a record     record.mark = node.calls, ret = 0, caller = below
 *
 * A record without a mark counts nothing, so the frame is what is counted until the record has one.
 * A handler's calls may find one that ends, and count it, before the hook goes on: so that stores
 * the new count. No return address is negative. Neither a time nor a tick has the SHADOW_COUNTING
 * bits. One that is not timed has one of them when it is in one of the copies of the chain of the
 * stack's peak (stack.c): then no hook takes its `time` for a tick, and its end is a slow path's.
 */
#define SHADOW_COUNTING (3ull << SHADOW_COUNTING_BIT)
#define SHADOW_NOTED    (1ull << SHADOW_COUNTING_BIT) /* in copy 0; likewise 1 */

struct shadow_entry {
    uint64_t context; /* its node's address, and SHADOW_PARKED */
    uint64_t ret;     /* the frame's return address; 0 or negative: it has ended */
    uint64_t time;    /* the thread's at entry; negative: it is not timed, shadow_tick */
    /* The slot of the frame that called it, or NO_CALLER. Of a timed one, with adaptive timing,
       this is above SHADOW_WEIGHT_BITS, and below it how many calls it stands for. */
    uint64_t below;
};

/* The frame was taken for one that is over, and counted as unwound. But its return address is still
   there, so it may go on: thunkstash/stash.c tells when. */
#define SHADOW_PARKED 1u

static inline bool shadow_is_parked(const struct shadow_entry *frame)
{
    return frame->context & SHADOW_PARKED;
}

static inline struct trace_node *shadow_node(const struct shadow_entry *frame)
{
    return (struct trace_node *)(frame->context & ~(uint64_t)SHADOW_PARKED);
}

static inline bool shadow_is_live(const struct shadow_entry *frame)
{
    return (int64_t)frame->ret > 0 && !shadow_is_parked(frame);
}

static inline bool shadow_is_being_counted(const struct shadow_entry *frame)
{
    return (frame->time & SHADOW_COUNTING) == SHADOW_COUNTING;
}

static inline bool shadow_is_timed(const struct shadow_entry *frame)
{
    return !(frame->time & TRACE_TICK_FLAG);
}

/* Of a frame that is not timed: the trace's tick at its entry. */
static inline uint64_t shadow_tick(const struct shadow_entry *frame)
{
    return frame->time & ~SHADOW_COUNTING;
}

/* It is in that copy of the chain. A timed one is told by its time there, and is not changed. */
static inline void shadow_note(struct shadow_entry *frame, uint32_t copy)
{
    if (!shadow_is_timed(frame) && !shadow_is_being_counted(frame))
        frame->time = shadow_tick(frame) | SHADOW_NOTED << copy;
}

static inline bool shadow_is_noted(const struct shadow_entry *frame, uint32_t copy)
{
    return !shadow_is_timed(frame) && (frame->time & SHADOW_COUNTING) == SHADOW_NOTED << copy;
}

/* Of an address that is covered. */
static inline struct shadow_entry *shadow_at(const struct thread *thread, uint64_t slot)
{
    return (struct shadow_entry *)(thread->shadow + SHADOW_SCALE * slot);
}

static inline bool shadow_covers(const struct thread *thread, uint64_t slot)
{
    return thread->shadow && slot >= thread->shadow_covered &&
           slot <= thread->own_low + thread->own_size - sizeof(uint64_t);
}

_Static_assert(sizeof(struct shadow_entry) == SHADOW_SCALE * sizeof(uint64_t), "a word's entry");
_Static_assert(offsetof(struct shadow_entry, context) == SHADOW_NODE, "node");
_Static_assert(offsetof(struct shadow_entry, ret) == SHADOW_RET, "ret");
_Static_assert(offsetof(struct shadow_entry, time) == SHADOW_TIME, "time");
_Static_assert(offsetof(struct shadow_entry, below) == SHADOW_BELOW, "below");

#endif
