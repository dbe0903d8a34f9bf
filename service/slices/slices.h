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

#include "service/recorder/session_part.h"

/*
 * Without memory, or without --slices, a session has none. At its end the last one is taken and all
 * are written; if the process goes on, with a note that they are cut.
 */
extern const struct session_part slices_part;

#endif
