/*
 * How rarely calls were timed, in the context of a trace that has most of them:  rarity TRACE
 *
 * Prints its calls, those of them that were timed, and the first by the second.
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace/trace_reader.h"

static void keep_most_called(void *user, uint32_t thread, uint32_t first,
                             const struct trace_node *nodes, uint32_t count)
{
    struct trace_node *most = user;

    (void)thread;
    (void)first;
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].context && nodes[i].calls + nodes[i].passed > most->calls + most->passed)
            *most = nodes[i];
}

int main(int count, char **arguments)
{
    struct trace_node most = {0};
    const struct trace_visitor visitor = {.user = &most, .nodes = keep_most_called};
    struct trace_file file;
    struct failure failure;
    uint64_t calls;

    if (count != 2) {
        fprintf(stderr, "rarity TRACE\n");
        return 2;
    }
    if (!trace_file_open(&file, arguments[1], &failure) ||
        !trace_file_read(&file, &visitor, &failure)) {
        fprintf(stderr, "rarity: %s\n", failure.text);
        return 1;
    }
    trace_file_close(&file);
    calls = most.calls + most.passed;
    printf("%" PRIu64 " %" PRIu32 " %.1f\n", calls, most.timed, (double)calls / most.timed);
    return 0;
}
