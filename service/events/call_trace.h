/*
 * Call-trace mode: every entry and end of a call as an event with its time (trace/event_format.h).
 * What a session has for it beside its trace, and the recorder's work on it in each turn of
 * the loop.
 */
#ifndef UMBRA_SERVICE_CALL_TRACE_H
#define UMBRA_SERVICE_CALL_TRACE_H

#include <stdint.h>

#include "service/recorder/session_part.h"

struct recorder;
struct session;
struct call_trace; /* of one session */

/* Makes session->events. Null after one message: without room for them, a process is recorded as in
   profile mode. */
extern const struct session_part call_trace_part;

/* Goes on with a session that has a ring, or none (-1), which becomes the session's. The chunks
   that an earlier service wrote stay as they are: what comes from now on is kept in the ring. */
void call_trace_adopt(struct session *session, int ring);

/* The file that its agent is to map, of *size bytes; -1 for none. Owned by the session. */
int call_trace_ring(const struct session *session, uint64_t *size);

/* All sessions are over. */
void call_trace_close(struct recorder *recorder);

#endif
