#include "tests/campaigns/counted_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/trace_reader.h"

#define OUTSIDE_LOOP   1 /* calls that nobody counts: work itself */
#define START_UP_CALLS 8 /* main and start-up code run in the first thread too: at most these */

/* What a trace says of the threads that counted. */
struct reading {
    struct {
        uint32_t ordinal, tid;
        uint64_t entries, exits;
    } threads[64];
    uint32_t count;
    uint64_t skipped; /* calls in threads for which there was no memory */
};

static void read_thread(void *user, const struct trace_thread *thread)
{
    struct reading *reading = user;

    if (reading->count == 64)
        return;
    reading->threads[reading->count].ordinal = thread->ordinal;
    reading->threads[reading->count++].tid = thread->tid;
}

static void read_nodes(void *user, uint32_t thread, uint32_t first, const struct trace_node *nodes,
                       uint32_t count)
{
    struct reading *reading = user;

    (void)first;
    for (uint32_t t = 0; t < reading->count; t++) {
        if (reading->threads[t].ordinal != thread)
            continue;
        for (uint32_t i = 0; i < count; i++) {
            if (!nodes[i].context)
                continue;
            reading->threads[t].entries += nodes[i].calls + nodes[i].passed;
            reading->threads[t].exits += nodes[i].exits + nodes[i].passed;
        }
    }
}

/* Recording ends in exit(); other threads may go on for a while. */
static bool compare_thread(const struct reading *reading, const struct counted_thread *counted,
                           bool is_first, const char *what, uint64_t *calls)
{
    bool runs_on = !is_first && !strcmp(what, "exit");
    uint64_t entries = 0, exits = 0, more = is_first ? START_UP_CALLS : 0;
    bool has_state = false;

    for (uint32_t t = 0; t < reading->count; t++) {
        if (reading->threads[t].tid != counted->tid)
            continue;
        entries = reading->threads[t].entries;
        exits = reading->threads[t].exits;
        has_state = true;
    }
    *calls += entries;
    if (!has_state && !strcmp(what, "memory")) /* another one had taken it all before this began */
        return reading->skipped >= counted->begun;
    if (entries <= counted->begun + OUTSIDE_LOOP + more && exits <= entries &&
        (runs_on || (entries + 1 >= counted->begun + OUTSIDE_LOOP && exits >= counted->ended)))
        return true;
    printf("%s: thread %" PRIu64 ": the program counted %" PRIu64 " calls begun and %" PRIu64
           " ended, its trace %" PRIu64 " and %" PRIu64 "\n",
           what, counted->tid, counted->begun, counted->ended, entries, exits);
    return false;
}

bool counted_trace_holds(const char *path, const struct counted_thread *counted, const char *what,
                         uint64_t *calls)
{
    struct reading reading = {0};
    const struct trace_visitor visitor = {
        .user = &reading, .thread = read_thread, .nodes = read_nodes};
    struct trace_file file;
    struct failure failure;
    bool same = true;

    if (!trace_file_open(&file, path, &failure) || !trace_file_read(&file, &visitor, &failure)) {
        printf("%s: %s\n", what, failure.text);
        return false;
    }
    reading.skipped = file.header.skipped;
    trace_file_close(&file);
    for (uint32_t i = 0; i < COUNTED_THREADS; i++)
        if (counted[i].tid && counted[i].begun)
            same = compare_thread(&reading, &counted[i], i == 0, what, calls) && same;
    return same;
}
