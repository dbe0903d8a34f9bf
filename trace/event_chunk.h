/*
 * One segment of events as a chunk of NAME.events (event_format.h), and back.
 *
 * Working memory is the caller's, one packer or unpacker for any number of chunks.
 */
#ifndef UMBRA_EVENT_CHUNK_H
#define UMBRA_EVENT_CHUNK_H

#include "trace/event_codec.h"

/* No chunk is larger, whatever was in its segment. */
#define EVENT_CHUNK_ROOM (sizeof(struct event_chunk) + EVENT_SHAPE_ROOM + EVENT_TIMES_ROOM + 4096)

struct event_packer;
struct event_packer *event_packer_new(void); /* null: no memory */
void event_packer_free(struct event_packer *packer);

/*
 * Makes a chunk of a segment: its header and its EVENT_SEGMENT_WORDS words. The chunk belongs to
 * the packer and is valid until its next call; its size is in its header.
 */
const struct event_chunk *event_pack(struct event_packer *packer,
                                     const struct event_segment *segment, const uint64_t *words);

struct event_unpacker;
struct event_unpacker *event_unpacker_new(void); /* null: no memory */
void event_unpacker_free(struct event_unpacker *unpacker);

/* A header whose sizes are possible. */
bool event_chunk_is_sound(const struct event_chunk *chunk);
/* Then whether header and body, what follows it, are what the checksum was made of. */
bool event_chunk_is_whole(const struct event_chunk *chunk, const void *body);

/*
 * Hands over a whole chunk's events. Null, or what is wrong, in words that follow "expected": then some
 * events may have been handed over.
 */
const char *event_unpack(struct event_unpacker *unpacker, const struct event_chunk *chunk,
                         const void *body, event_sink *sink, void *user);

#endif
