/*
 * The shadow of a thread's own stack: frames of copied bodies that were counted, beside their
 * return addresses. docs/copies.md says who writes it and when it is believed.
 *
 *      stack                         shadow
 *      |            |                +------+-----+------+-------+
 *      | return     |  S  ---------> | node | ret | time | below |      at shadow + 4 * S
 *      |            |                +------+-----+------+-------+
 *
 * It covers what of the stack was in use already, and grows with that (stack.h).
 */
#ifndef UMBRA_HOOKS_SHADOW_H
#define UMBRA_HOOKS_SHADOW_H

#include "hooks/shadow_entry.h"

#define NO_CALLER UINT64_MAX /* of thread.caller */

/* Makes the entries from this address to the end of the stack usable. False: no memory. */
bool shadow_cover(struct thread *thread, uint64_t lowest);

/* The entry of a frame of a copied body, whose return address is at this slot; null if there is
   none, or if it is not this frame's. */
struct shadow_entry *shadow_of_frame(const struct thread *thread, uint64_t slot);

/* The frame that has made a call whose return address is at `slot`, unless the newest record is
   more recent: null. In a slow path: ends frames that are over, first. */
struct shadow_entry *shadow_caller(struct thread *thread, uint64_t slot);

/* The nearest frame above an address and below another one; null if there is none. */
struct shadow_entry *shadow_nearest(const struct thread *thread, uint64_t above, uint64_t limit);

/* Begins a frame in `slot`, and counts it; weight: 0, if it is not timed. */
void shadow_push(struct thread *thread, uint64_t slot, struct trace_node *node, uint64_t ret,
                 uint64_t weight);

/* The frame ends: its time is added, and it is counted. */
void shadow_end(struct thread *thread, struct shadow_entry *frame, uint64_t now, bool returned);

/* How many calls a timed one stands for. */
uint64_t shadow_weight(const struct shadow_entry *frame);

/* A parked frame returns, so its callers are live, too: none of them is parked any more. */
void shadow_revive(struct thread *thread, struct shadow_entry *frame);

/* The slot of the frame below; NO_CALLER if there is none. */
uint64_t shadow_below(const struct shadow_entry *frame);

/* How many frames there are; shadow_settle also adds their time until now. */
uint64_t shadow_count(struct thread *thread);
uint64_t shadow_settle(struct thread *thread, uint64_t now);

/* Of another thread, which may be running: the ends of its frames are not counted any more. */
void shadow_cut(struct thread *thread);

/* Gives its memory back. */
void shadow_release(struct thread *thread);

_Static_assert(STACK_COPIES == 2, "a bit for each copy");
#endif
