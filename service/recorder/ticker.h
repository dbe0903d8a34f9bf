/*
 * The time, told to the processes that want it (trace_header.tick): each millisecond, with many of
 * them less often.
 */
#ifndef UMBRA_SERVICE_TICKER_H
#define UMBRA_SERVICE_TICKER_H

struct recorder;

/* To be called when a session begins: goes on as long as there is one. */
void ticker_start(struct recorder *recorder);

#endif
