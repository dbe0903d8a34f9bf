/*
 * That a trace has no times (call_trace_service --timing=none):
 *
 *      untimed TRACE             prints what was counted and timed
 *      untimed --hasten TRACE    of a program that stands still, as its service holds it: it is
 * soon each context's turn to be timed, as it is after 2^31 calls
 *
 * A context that is timed has ticks, calls timed, or a gap from one timed call to the next. One
 * that is not has its turn put off when it comes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_format.h"

#define CALLS_LEFT 3         /* until it is the context's turn */
#define FAR        (1 << 30) /* calls: a turn that was put off is farther */

struct figures {
    uint64_t contexts, calls, timed, with_times, with_turn, put_off;
};

static uint64_t calls_of(const struct trace_header *header, const struct trace_node *node)
{
    return node->calls + trace_node_passed(header, node);
}

static void hasten(const struct trace_header *header, struct trace_node *node)
{
    node->next = (uint32_t)calls_of(header, node) + CALLS_LEFT;
}

static void look_at(const struct trace_header *header, const struct trace_node *node,
                    struct figures *figures)
{
    uint64_t calls = calls_of(header, node);
    int32_t ahead = (int32_t)(node->next - (uint32_t)calls);

    figures->contexts++;
    figures->calls += calls;
    figures->timed += node->timed;
    figures->with_times += node->ticks || node->gap;
    figures->with_turn += ahead <= 0;
    figures->put_off += ahead > FAR;
}

static void walk(char *trace, uint64_t size, bool hastens, struct figures *figures)
{
    const struct trace_header *header = (const struct trace_header *)trace;

    if (header->used < size)
        size = header->used;
    for (uint64_t at = TRACE_HEADER_SIZE; at + TRACE_BLOCK_SIZE <= size; at += TRACE_BLOCK_SIZE) {
        const struct trace_block *block = (const struct trace_block *)(trace + at);
        struct trace_node *nodes = (struct trace_node *)(trace + at);
        uint32_t first = block->kind == TRACE_BLOCK_THREAD ? TRACE_FIRST_NODE + 1 : 1; /* no root */

        if (block->kind != TRACE_BLOCK_THREAD && block->kind != TRACE_BLOCK_NODES)
            continue;
        for (uint32_t i = first; i < block->used && i < TRACE_BLOCK_UNITS; i++) {
            if (nodes[i].context && hastens)
                hasten(header, &nodes[i]);
            if (nodes[i].context)
                look_at(header, &nodes[i], figures);
        }
    }
}

int main(int count, char **arguments)
{
    bool hastens = count == 3 && !strcmp(arguments[1], "--hasten");
    struct figures figures = {0};
    struct stat status;
    char *trace;
    int file;

    if (count != 2 + hastens) {
        fprintf(stderr, "untimed [--hasten] TRACE\n");
        return 2;
    }
    file = open(arguments[count - 1], O_RDWR);
    if (file < 0 || fstat(file, &status) < 0) {
        perror(arguments[count - 1]);
        return 1;
    }
    trace = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (trace == MAP_FAILED) {
        perror(arguments[count - 1]);
        return 1;
    }
    walk(trace, (uint64_t)status.st_size, hastens, &figures);
    printf("%" PRIu64 " contexts, %" PRIu64 " calls, %" PRIu64 " timed, %" PRIu64
           " with times, %" PRIu64 " past their turn, %" PRIu64 " far from it\n",
           figures.contexts, figures.calls, figures.timed, figures.with_times, figures.with_turn,
           figures.put_off);
    return 0;
}
