/*
 * The calls on a thread's own stack that have not returned, from the innermost one outwards: those
 * that have records, and the frames of copies that have none (frames.h).
 *
 *      stack              shadow            stash
 *      |        |         |        |        |        |
 *      | main   |  S0     | links  |        | record |      main is timed
 *      | parse  |  S1     | links  |        |        |
 *      | sort   |  S2     |        |        | record |      is no copy
 *      | less   |  S3     | links  |        |        |      is where the walk begins
 *
 * A context says which one called it. So the caller's frame is the nearest one above whose word in
 * the shadow is the links of that context, and whose return address is that context's call site; not
 * above the next record, which is a call itself. What else lies between is nobody's frame any more, or
 * of code that is not recorded.
 *
 * One word in a million can be wrong: of a frame that has returned, where the function that lives has
 * that part of the stack unwritten, and the same context called the same function from there again.
 */
#ifndef UMBRA_HOOKS_LIVE_CALLS_H
#define UMBRA_HOOKS_LIVE_CALLS_H

#include "hooks/thread.h"

struct live_call {
    uint64_t slot;               /* of its return address. A record whose call is ending has none: 0 */
    struct trace_node *node;     /* null: there is no call any more */
    const struct record *record; /* its own; or null */
    const struct record *next;   /* the newest record that is not of a call within this one */
};

/* The call of the newest record. */
struct live_call live_call_of_top(const struct thread *thread);
/* The call of a frame of a copy, within which there is no record but its own. */
struct live_call live_call_of_frame(const struct thread *thread, uint64_t slot,
                                    struct trace_node *node);

/* From a call on to the one that has made it. likely: where its slot may well be; or 0. */
void live_call_go_up(const struct thread *thread, struct live_call *call, uint64_t likely);

#endif
