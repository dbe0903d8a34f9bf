/*
 * Words of a segment to events, and events to the two columns of a chunk and back
 * (event_format.h). Knows no files and no compression; allocates nothing.
 */
#ifndef UMBRA_EVENT_CODEC_H
#define UMBRA_EVENT_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/event_format.h"

enum event_kind {
    EVENT_KIND_ENTRY = 1,
    EVENT_KIND_EXIT = 2,    /* a return, or a jump to another function in its place */
    EVENT_KIND_UNWOUND = 3, /* ended without a return: exception, longjmp, exit of the thread */
};

struct event {
    uint64_t ticks;
    uint32_t node;
    enum event_kind kind;
};

/* Called for each event in order; false ends the reading. */
typedef bool event_sink(void *user, const struct event *event);

/* Hands over what a segment's words say. Returns how many were torn. */
uint32_t event_words_read(const uint64_t *words, size_t count, uint64_t base, event_sink *sink,
                          void *user);

/* At most this many bytes: an event takes up to three numbers, of which a node's has 5 bytes. */
#define EVENT_SHAPE_ROOM (EVENT_SEGMENT_WORDS * 7)
#define EVENT_TIMES_ROOM (EVENT_SEGMENT_WORDS * 10)
#define EVENT_IDS        16384 /* a power of two, twice the words of a segment */

/* Working memory of an encoder, about 350 KB: the caller keeps one and uses it again and again. */
struct event_columns {
    uint8_t shape[EVENT_SHAPE_ROOM];
    uint8_t times[EVENT_TIMES_ROOM];
    size_t shape_bytes, times_bytes;
    uint32_t events, torn;

    struct {
        uint32_t node, id;
    } ids[EVENT_IDS]; /* by hash of the node; node 0: free */
    uint32_t id_count;
    uint32_t open[EVENT_SEGMENT_WORDS]; /* calls begun here and not ended yet */
    uint32_t open_count;
    uint64_t last_ticks;
};

/* Fills in columns from a segment's words; count is at most EVENT_SEGMENT_WORDS. */
void event_encode(struct event_columns *columns, const uint64_t *words, size_t count,
                  uint64_t base);

/* Working memory of a decoder: the nodes by id and the open calls. */
struct event_decoder {
    uint32_t nodes[EVENT_SEGMENT_WORDS];
    uint32_t open[EVENT_SEGMENT_WORDS];
};

/*
 * Hands over the events of a chunk's columns. False if they are malformed: numbers that end in
 * the middle, ids nobody defined, ends of nothing, columns of different length, more or fewer
 * events than `events`. What was handed over until then is sound.
 */
bool event_decode(struct event_decoder *decoder, const uint8_t *shape, size_t shape_bytes,
                  const uint8_t *times, size_t times_bytes, uint64_t base, uint32_t events,
                  event_sink *sink, void *user);

#endif
