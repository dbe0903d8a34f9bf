/* The ring of a program in call-trace mode, which is memory, as a file (trace/event_format.h). */
#ifndef UMBRA_SERVICE_LINUX_EVENT_RING_H
#define UMBRA_SERVICE_LINUX_EVENT_RING_H

#include <stdbool.h>

/*
 * Writes STEM.ring, beside the trace STEM.bin, with the segments that anybody took, for readers to
 * take events from that are in no chunk. Returns false after one message.
 */
bool event_ring_save(int ring, int directory, const char *stem);

#endif
