/* Whether a trace holds what tests/programs/counted.h says its program counted. */
#ifndef UMBRA_TEST_COUNTED_TRACE_H
#define UMBRA_TEST_COUNTED_TRACE_H

#include <stdbool.h>

#include "tests/programs/counted.h"

/*
 * Compares all COUNTED_THREADS, prints what differs, and adds the calls it compared to `calls`.
 * `what` says how the program ended; threads may go on for a while where it is "exit".
 */
bool counted_trace_holds(const char *path, const struct counted_thread *counted, const char *what,
                         uint64_t *calls);

#endif
