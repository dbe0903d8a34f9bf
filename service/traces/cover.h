/* Blocks of cover (trace_format.h): an agent has them at the end of its memory, files behind the others. */
#ifndef UMBRA_SERVICE_COVER_H
#define UMBRA_SERVICE_COVER_H

#include <stdint.h>

/*
 * Copies those of the trace `from`, of which the agent has `capacity` bytes, to `to`, from the byte
 * `used` on; both are descriptors, and may be the same. Returns where blocks end then, or 0 with errno
 * set. What the agent says may be anything: cover that cannot be is none.
 */
uint64_t cover_append(int to, int from, uint64_t capacity, uint64_t used);

#endif
