#include "trace/event_chunk.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#define LEVEL 1 /* of zstd */

struct event_packer {
    ZSTD_CCtx *compression;
    struct event_columns columns;
    _Alignas(8) uint8_t chunk[EVENT_CHUNK_ROOM];
};

struct event_unpacker {
    struct event_decoder decoder;
    uint8_t shape[EVENT_SHAPE_ROOM];
    uint8_t times[EVENT_TIMES_ROOM];
};

struct event_packer *event_packer_new(void)
{
    struct event_packer *packer = malloc(sizeof(*packer));

    if (!packer)
        return NULL;
    packer->compression = ZSTD_createCCtx();
    if (packer->compression)
        return packer;
    free(packer);
    return NULL;
}

void event_packer_free(struct event_packer *packer)
{
    if (packer)
        ZSTD_freeCCtx(packer->compression);
    free(packer);
}

/* Puts a column behind what the chunk has. False: it would not become smaller. */
static bool shrink(struct event_packer *packer, uint8_t **end, const uint8_t *column, size_t size,
                   uint32_t *taken)
{
    size_t room = (size_t)(packer->chunk + sizeof(packer->chunk) - *end);
    size_t shrunk = ZSTD_compressCCtx(packer->compression, *end, room, column, size, LEVEL);

    if (ZSTD_isError(shrunk) || shrunk >= size)
        return false;
    *taken = (uint32_t)shrunk;
    *end += shrunk;
    return true;
}

static void store(uint8_t **end, const uint8_t *column, size_t size, uint32_t *taken)
{
    memcpy(*end, column, size);
    *taken = (uint32_t)size;
    *end += size;
}

static uint32_t checksum(const struct event_chunk *chunk, const void *body)
{
    XXH64_hash_t of_body = XXH3_64bits(body, chunk->size - sizeof(*chunk));

    return (uint32_t)XXH3_64bits_withSeed(chunk, offsetof(struct event_chunk, checksum), of_body);
}

const struct event_chunk *event_pack(struct event_packer *packer,
                                     const struct event_segment *segment, const uint64_t *words)
{
    struct event_chunk *chunk = (struct event_chunk *)packer->chunk;
    struct event_columns *columns = &packer->columns;
    uint8_t *body = packer->chunk + sizeof(*chunk), *end = body;

    event_encode(columns, words, EVENT_SEGMENT_WORDS, segment->base);
    *chunk = (struct event_chunk){
        .thread = segment->thread,
        .sequence = segment->sequence,
        .base = segment->base,
        .dropped = segment->dropped,
        .events = columns->events,
        .torn = columns->torn,
        .compression = EVENT_ZSTD,
        .shape_bytes = (uint32_t)columns->shape_bytes,
        .times_bytes = (uint32_t)columns->times_bytes,
    };
    if (!shrink(packer, &end, columns->shape, columns->shape_bytes, &chunk->shape_size) ||
        !shrink(packer, &end, columns->times, columns->times_bytes, &chunk->times_size)) {
        chunk->compression = EVENT_STORED;
        end = body;
        store(&end, columns->shape, columns->shape_bytes, &chunk->shape_size);
        store(&end, columns->times, columns->times_bytes, &chunk->times_size);
    }
    chunk->size = (uint32_t)(end - packer->chunk);
    chunk->checksum = checksum(chunk, body);
    return chunk;
}

struct event_unpacker *event_unpacker_new(void)
{
    return malloc(sizeof(struct event_unpacker));
}

void event_unpacker_free(struct event_unpacker *unpacker)
{
    free(unpacker);
}

bool event_chunk_is_sound(const struct event_chunk *chunk)
{
    return chunk->size <= EVENT_CHUNK_ROOM && chunk->shape_size <= EVENT_SHAPE_ROOM &&
           chunk->times_size <= EVENT_TIMES_ROOM && chunk->shape_bytes <= EVENT_SHAPE_ROOM &&
           chunk->times_bytes <= EVENT_TIMES_ROOM && chunk->events <= EVENT_SEGMENT_WORDS &&
           chunk->size == sizeof(*chunk) + chunk->shape_size + chunk->times_size;
}

bool event_chunk_is_whole(const struct event_chunk *chunk, const void *body)
{
    return chunk->checksum == checksum(chunk, body);
}

static const char *decode(struct event_unpacker *unpacker, const struct event_chunk *chunk,
                          const uint8_t *shape, const uint8_t *times, event_sink *sink, void *user)
{
    return event_decode(&unpacker->decoder, shape, chunk->shape_bytes, times, chunk->times_bytes,
                        chunk->base, chunk->events, sink, user)
               ? NULL
               : "columns that hold as many events as the header says";
}

static bool restore(uint8_t *to, size_t size, const uint8_t *from, size_t from_size)
{
    return ZSTD_decompress(to, size, from, from_size) == size;
}

const char *event_unpack(struct event_unpacker *unpacker, const struct event_chunk *chunk,
                         const void *body, event_sink *sink, void *user)
{
    const uint8_t *shape = body, *times = shape + chunk->shape_size;

    if (chunk->compression == EVENT_STORED) {
        if (chunk->shape_size != chunk->shape_bytes || chunk->times_size != chunk->times_bytes)
            return "stored columns to be as long as they are";
        return decode(unpacker, chunk, shape, times, sink, user);
    }
    if (chunk->compression != EVENT_ZSTD)
        return "columns that are stored or compressed by zstd";
    if (!restore(unpacker->shape, chunk->shape_bytes, shape, chunk->shape_size) ||
        !restore(unpacker->times, chunk->times_bytes, times, chunk->times_size))
        return "columns that zstd can restore";
    return decode(unpacker, chunk, unpacker->shape, unpacker->times, sink, user);
}
