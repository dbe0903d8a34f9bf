/*
 * The events of a trace, read, unpacked and decoded in a thread of its own, a few batches ahead of
 * who uses them.
 *
 *      files ─ event_files_read ─> batch ─> batch ─> batch ─ event_stream_next ─> user
 *              (its thread)        EVENT_STREAM_BATCHES of them          (caller's thread)
 */
#ifndef UMBRA_GRINDER_EVENT_STREAM_H
#define UMBRA_GRINDER_EVENT_STREAM_H

#include <pthread.h>

#include "trace/event_reader.h"

#define EVENT_STREAM_BATCHES 4
#define EVENT_STREAM_EVENTS  EVENT_SEGMENT_WORDS /* most in a batch: those of a segment */

/* Events of one thread, one behind the other. */
struct event_batch {
    uint32_t thread;  /* ordinal */
    uint64_t dropped; /* events that this thread lost right before these */
    size_t count;
    struct event events[EVENT_STREAM_EVENTS];
};

struct event_stream {
    const char *path; /* of the trace; borrowed */
    const struct trace_header *header;
    uint32_t only; /* thread's ordinal; 0: all */
    pthread_t reader;
    bool has_reader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t filled, used;         /* batches ever; at most EVENT_STREAM_BATCHES apart */
    struct event_batch *filling; /* batch `filled`, begun; the reader's; null: not begun */
    bool is_handed_out;          /* batch `used`; the user's */
    bool is_read;
    struct event_batch *batches; /* number N at N % EVENT_STREAM_BATCHES */
    struct event_totals totals;
    bool is_sound; /* else failure says why not */
    struct failure failure;
};

/* Begins to read the events beside the trace at path; what is borrowed is needed until the end. */
void event_stream_begin(struct event_stream *stream, const char *path,
                        const struct trace_header *header, uint32_t only);

/* The next batch, valid until the next call; null when there are no more. */
const struct event_batch *event_stream_next(struct event_stream *stream);

/* To be called when there are no more. False with stream->failure filled in: some may have been
   handed out all the same. totals are those of what was read. */
bool event_stream_end(struct event_stream *stream);

#endif
