/*
 * Counts the events of a trace:  event_totals TRACE
 *
 *      entries N exits N unwound N dropped N torn N gone N cut N segments N from_ring N
 *
 * With nothing lost, each thread's events must be in order of time and each end of a call that is
 * open, or it is said and the status is 1. (A handler's events stand before that of the hook it
 * interrupted, which has the earlier time.)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/event_reader.h"

#define THREADS 4096
#define NODES   (1u << 22)

static uint64_t entries, exits, unwound, backwards, closed_twice, last[THREADS];
static int32_t open_calls[NODES]; /* by node: coroutines may end in any order */

static void see(void *user, uint32_t thread, const struct event *event)
{
    (void)user;
    if (thread < THREADS) {
        backwards += event->ticks < last[thread];
        last[thread] = event->ticks;
    }
    if (event->kind == EVENT_KIND_ENTRY) {
        entries++;
        open_calls[event->node % NODES]++;
        return;
    }
    if (event->kind == EVENT_KIND_EXIT)
        exits++;
    else
        unwound++;
    closed_twice += --open_calls[event->node % NODES] < 0;
}

int main(int count, char **arguments)
{
    const struct event_visitor visitor = {NULL, NULL, see};
    struct event_totals totals;
    struct failure failure;
    struct trace_file file;

    if (count != 2)
        return 2;
    if (!trace_file_open(&file, arguments[1], &failure) ||
        !event_files_read(arguments[1], &file.header, &visitor, &totals, &failure)) {
        fprintf(stderr, "%s\n", failure.text);
        return 1;
    }
    trace_file_close(&file);
    printf("entries %" PRIu64 " exits %" PRIu64 " unwound %" PRIu64 " dropped %" PRIu64
           " torn %" PRIu64 " gone %" PRIu64 " cut %" PRIu64 " segments %" PRIu64
           " from_ring %" PRIu64 "\n",
           entries, exits, unwound, totals.dropped, totals.torn, totals.gone, totals.cut,
           totals.segments, totals.from_ring);
    if (totals.dropped || totals.gone || totals.torn || !(backwards || closed_twice))
        return 0;
    printf("%" PRIu64 " events before the one before them, %" PRIu64 " ends of no call\n",
           backwards, closed_twice);
    return 1;
}
