/*
 * Writes the time into the traces of the processes that want it (trace_header.tick): each
 * millisecond, less often if they are many.
 */
#ifndef UMBRA_SERVICE_TICKER_H
#define UMBRA_SERVICE_TICKER_H

struct recorder;

/* To be called when a session begins that has ticks: goes on as long as there is any session. */
void ticker_start(struct recorder *recorder);

#endif
