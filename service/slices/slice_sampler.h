/*
 * What changed in a trace since it was last looked at, by thread and function.
 *
 * A look copies the nodes out of the trace's file, which is the memory the program records into,
 * and compares them with those of the last look: nobody is stopped, and nothing is asked of the
 * agent. A node's ticks grow when an invocation ends:
 *
 *      total of a node    = growth of its ticks, probes' cost taken out
 *      self of a function = total of its nodes, less that of the nodes called from them
 *
 * By that alone, main would get nothing until it returns, and then everything. So an invocation
 * that was open at both looks, and was not seen to be another one, is credited with the time
 * between them; when it ends, its credit is taken off. It is taken for open if all of these hold:
 *
 *      - the node has more calls than exits, and neither changed
 *      - so it is with the one that called it, up to the root
 *      - nothing else was called or returned to from its caller meanwhile
 *
 * The last rule finds what left without a return (longjmp, exceptions), which no node counts: such
 * invocations are noted as gone. Coroutines break the rule; theirs count when they end.
 *
 * With TRACE_TIMING_SAMPLES none of that is needed: ticks grow while a context is executed.
 *
 *      self of a function = growth of its nodes' ticks
 *      total              = that, and that of all nodes below its outermost ones
 *
 * Calls that links count (struct trace_links) are not among the calls of a look yet.
 */
#ifndef UMBRA_SERVICE_SLICE_SAMPLER_H
#define UMBRA_SERVICE_SLICE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/slices/slice_list.h"
#include "trace/trace_format.h"

/* A trace that has outgrown this is looked at no more: a look copies what nodes it has, and 96 bytes are
   kept of each. */
#define SLICE_TRACE_LIMIT (64u << 20)

struct slice_node;

struct slice_sampler {
    int file;                 /* the trace; borrowed */
    struct slice_node *nodes; /* in the order of the file, from 1 on */
    size_t room;
    uint32_t node_count;
    uint32_t *places; /* by the number of a block: where its first unit is among the nodes. 0: not seen
                         yet; NO_NODES: it holds something else */
    size_t place_count, place_room;
    uint32_t *open; /* nodes that may be under way */
    size_t open_count, open_room;
    struct slice_entry *entries; /* of this look */
    size_t entry_count, entry_room;
    uint64_t last_ticks; /* when the last look was; 0 before the recording began */
    uint64_t start_ticks;
    struct trace_header header; /* as of this look */
    uint32_t look;
    unsigned char *buffer;
};

enum slice_look {
    SLICE_TAKEN,
    SLICE_NOTHING, /* the recording has not begun */
    SLICE_FAILED,  /* too large, no memory, not to be read: not to be asked again */
};

bool slice_sampler_open(struct slice_sampler *sampler, int file);
void slice_sampler_close(struct slice_sampler *sampler);

/* Fills in entries. now: ticks of this moment. */
enum slice_look slice_sampler_sample(struct slice_sampler *sampler, uint64_t now);

/* Bytes it holds. */
size_t slice_sampler_size(const struct slice_sampler *sampler);

#endif
