/*
 * The service's side of call-trace mode, one for each recorded process: makes the ring that the
 * agent fills, and moves full segments from there to NAME.events (trace/event_format.h).
 *
 * A segment is given back only once its chunk was written. When the disk is full, or the limit on
 * it is reached, the ring says `stopped`: the agent takes no more segments, and counts.
 */
#ifndef UMBRA_SERVICE_LINUX_EVENT_DRAIN_H
#define UMBRA_SERVICE_LINUX_EVENT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "service/event_policy.h"
#include "trace/event_chunk.h"
#include "trace/trace_format.h"

#define EVENT_PIECES 8 /* that a flight recorder's limit is divided into */

struct event_drain {
    const struct event_policy *policy; /* borrowed */
    int directory;                     /* borrowed */
    char name[128];                    /* NAME */
    struct event_file_header header;   /* of the current piece */
    struct event_ring *ring;           /* mapped; null: this process has none */
    uint64_t ring_size;
    int ring_file, file;
    uint64_t written;                   /* bytes of the current piece */
    uint64_t written_by_pieces, events; /* of all that were ever written */
    uint64_t piece_events[EVENT_PIECES];
    struct event_packer *packer; /* borrowed: one serves all processes */
    bool has_failed;             /* a write did; it was reported */
    bool is_full;                /* the limit is reached; likewise */
};

/*
 * Makes ring and events beside the trace `trace_name`, NAME.bin, whose header says whose they are.
 * False with errno set: nothing was left behind. drain->ring_file is what the agent is to map.
 */
bool event_drain_open(struct event_drain *drain, const struct event_policy *policy,
                      struct event_packer *packer, int directory, const char *trace_name,
                      const struct trace_header *header);

/* Writes what is full. Returns the number of segments. */
unsigned event_drain_turn(struct event_drain *drain);

/*
 * The process is gone: writes what is left, full or not, and removes the ring. If that fails the
 * ring stays, and readers take the rest from there; if the limit is reached, the rest is counted.
 */
void event_drain_end(struct event_drain *drain);

/* Lets go of a process that goes on: the ring stays with it, and fills up. */
void event_drain_leave(struct event_drain *drain);

/* Nothing was recorded: removes both. */
void event_drain_discard(struct event_drain *drain);

#endif
