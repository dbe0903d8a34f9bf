/*
 * Call-trace mode: the events of a thread, word by word into segments of the ring that it takes
 * without asking anybody (trace/event_format.h).
 *
 * The hot paths of entry.S write their words themselves and come here when the segment is full, or
 * time has run further from its base than 32 bits hold. A place is taken by one instruction, xadd,
 * so that a signal handler's hooks take places of their own, whatever they interrupt.
 */
#ifndef UMBRA_HOOKS_EVENTS_H
#define UMBRA_HOOKS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event_format.h"
#include "trace/trace_format.h"

struct thread;

/* Does this session record events? */
bool events_are_on(void);

/* Where there are none, these do nothing. time: the thread's. */
void event_entry(struct thread *thread, const struct trace_node *node, uint64_t time);
void event_end(struct thread *thread, const struct trace_node *node, uint64_t time, bool returned);

/* Called by the hot paths when they cannot write the event themselves: thread, node, time. */
void umbra_slow_event_entry(struct thread *thread, const struct trace_node *node, uint64_t time);
void umbra_slow_event_end(struct thread *thread, const struct trace_node *node, uint64_t time);

/* A thread's state is set up. */
void events_begin(struct thread *thread);

/* The thread writes no more: what it has is the service's now. */
void events_finish(struct thread *thread);

#endif
