/* Bytes being put together. */
#ifndef UMBRA_REWRITER_BUFFER_H
#define UMBRA_REWRITER_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* {0} is an empty one; free(bytes) ends it. */
struct buffer {
    uint8_t *bytes;
    size_t size, room;
};

/* Makes room for that many more bytes. */
void buffer_grow(struct buffer *buffer, size_t size);

/* Makes room for an addition, and counts it; returns where it is to go. */
static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t size)
{
    if (buffer->room - buffer->size < size)
        buffer_grow(buffer, size);
    buffer->size += size;
    return buffer->bytes + buffer->size - size;
}

/* Each returns the offset at which the addition begins. */
static inline size_t buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    if (size)
        memcpy(buffer_reserve(buffer, size), bytes, size);
    return buffer->size - size;
}

size_t buffer_append_zeros(struct buffer *buffer, size_t size);
size_t buffer_append_string(struct buffer *buffer, const char *text);
/* Pads with `fill` up to a multiple of alignment, a power of two; returns the new size. */
size_t buffer_align(struct buffer *buffer, size_t alignment, uint8_t fill);

#endif
