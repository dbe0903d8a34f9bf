/*
 * Call-trace mode: every entry and end of a call as an event with its time (trace/event_format.h).
 * What a session has for it beside its trace, and the service's work on it in each turn of its
 * loop.
 */
#ifndef UMBRA_SERVICE_CALL_TRACE_H
#define UMBRA_SERVICE_CALL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_format.h"

struct service;
struct session;
struct call_trace; /* of one session */

/* Can this platform do it? */
bool call_trace_is_possible(void);

/* Makes what the session needs, in session->events. Returns false after one message. */
bool call_trace_begin(struct session *session, const struct trace_header *header);

/* The file that its agent is to map, of *size bytes; -1 for none. Owned by the session. */
int call_trace_ring(const struct session *session, uint64_t *size);

/* The process is gone: all it left is written. */
void call_trace_end(struct session *session);

/* The process goes on without us. */
void call_trace_leave(struct session *session);

/* The process never got it. */
void call_trace_discard(struct session *session);

/*
 * Writes what sessions have ready, for a bounded time. Returns the milliseconds until it wants to
 * be called again, at most limit; limit may be -1 for any.
 */
int call_trace_turn(struct service *service, int limit);

/* All sessions are over. */
void call_trace_close(struct service *service);

#endif
