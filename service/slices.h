/*
 * Time slices of the sessions that are recorded (trace/slice_format.h): when each is due, and the
 * file it ends up in. A session whose slices cannot be had has none: recording does not depend on
 * them.
 *
 * A look takes no more than 1% of a processor's time, of all sessions together: one that took 2 ms
 * is followed by the next after 200 ms, or twice that if there are two sessions.
 */
#ifndef UMBRA_SERVICE_SLICES_H
#define UMBRA_SERVICE_SLICES_H

#include <stdbool.h>

struct service;
struct session;
struct trace_header;

/* Without memory, or without --slices, the session has none. */
void slices_begin(struct session *session, const struct trace_header *header);

/* Takes what is due. Returns how long to wait, in ms, no longer than limit (-1: for ever). */
int slices_turn(struct service *service, int limit);

/* Takes the last one and writes them all. cut: the process goes on. */
void slices_end(struct session *session, bool cut);

void slices_discard(struct session *session);

#endif
