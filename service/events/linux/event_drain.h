/*
 * The service's side of call-trace mode, one for each recorded process: makes the ring that the
 * agent fills, and moves full segments from there to NAME.events (trace/event_format.h).
 *
 * A segment is given back only once its chunk was written. While the disk is full it stays: when
 * all segments are, the agent counts what it cannot write, and goes on when there is room again.
 * When the limit on disk is reached, the ring says `stopped`: the agent takes no more segments.
 */
#ifndef UMBRA_SERVICE_LINUX_EVENT_DRAIN_H
#define UMBRA_SERVICE_LINUX_EVENT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "service/recorder/event_policy.h"
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
    bool has_failed;             /* a write did; it was reported. Or adopted: nothing is written */
    bool is_full;                /* the limit is reached; it was reported */
    bool is_without_room;        /* the disk has none for the next chunk; it was reported */
    int64_t retry_ms;            /* when that is tried again */
};

/*
 * Makes ring and events beside the trace `trace_name`, NAME.bin, whose header says whose they are.
 * False with errno set: nothing was left behind. drain->ring_file is what the agent is to map.
 */
bool event_drain_open(struct event_drain *drain, const struct event_policy *policy,
                      struct event_packer *packer, int directory, const char *trace_name,
                      const struct trace_header *header);

/* Goes on with a ring that an earlier service made, and which becomes the drain's. Nothing is taken
   from it until the end: then it is saved. */
void event_drain_adopt(struct event_drain *drain, int directory, const char *trace_name, int ring);

/* Writes what is full. Returns the number of segments. */
unsigned event_drain_turn(struct event_drain *drain);

/*
 * The process is gone: writes what is left, full or not. If that fails the ring is saved as a file,
 * and readers take the rest from there; if the limit is reached, the rest is counted. Returns how
 * many events are lost of which no file tells.
 */
uint64_t event_drain_end(struct event_drain *drain);

/* Lets go of a process that goes on: the ring stays with it and the keeper, and fills up. */
void event_drain_leave(struct event_drain *drain);

/* Nothing was recorded: removes the events. */
void event_drain_discard(struct event_drain *drain);

#endif
