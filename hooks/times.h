/*
 * How long calls take of functions that each of was asked for (instrument --time): wall clock from the entry hook
 * to the exit hook, in buckets (struct trace_times). Their bodies are not copied, so each of their calls has a
 * record, and both hooks take the slow path:
 *
 *      entry    record->t0 = TRACE_TICK_FLAG | clock      not the tick that stands, so the exit hook
 *      exit     bucket of clock - t0                      does not take it for an untimed call
 *
 * Where such a function jumps to another one, its record serves that one, and its time goes on until the
 * other returns: the record's t0 stays, and thread.times.carried knows whose it is. If the other one is to be
 * timed, too, the first one's time ends there.
 *
 * A call that does not return, or returns on another thread, has no time.
 */
#ifndef UMBRA_HOOKS_TIMES_H
#define UMBRA_HOOKS_TIMES_H

#include "hooks/thread.h"

/* Whether calls of the context are to be timed. */
bool times_has(const struct trace_node *node);

/* Whether the record has the time of a call to be timed. */
bool times_are_of(const struct record *record);

/* The call of a record that has a time returns now, or rather did when thread.times.clock was read. */
void times_end(struct thread *thread, const struct record *record);

/* A record that has a time is about to serve a call of `next`: it has no time any more, and returns whose it was and when
   that call began; context null: it ended now. */
struct timed_call times_leave(struct thread *thread, struct record *record,
                              const struct trace_node *next);
/* The record serves the other call by now: it has the time that times_leave returned, of `call`. */
void times_carry(struct thread *thread, struct record *record, struct timed_call call);

/* A thread that is gone: gives back what its times are found by. */
void times_release(struct thread *thread);

#endif
