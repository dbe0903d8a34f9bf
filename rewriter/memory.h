/*
 * Memory of a short-lived tool: running out of it ends the process with a message and status 1
 * (and atexit handlers run).
 */
#ifndef UMBRA_REWRITER_MEMORY_H
#define UMBRA_REWRITER_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Makes room for one more item in an array of `count`; returns the array, perhaps moved. */
void *memory_grow(void *items, size_t count, size_t *room, size_t item_size);

/* Zeroed; never null. */
void *memory_zeroed(size_t count, size_t size);

/* Bytes being put together. {0} is an empty one; free(bytes) ends it. */
struct buffer {
    uint8_t *bytes;
    size_t size, room;
};

/* Each returns the offset at which the addition begins. */
size_t buffer_append(struct buffer *buffer, const void *bytes, size_t size);
size_t buffer_append_zeros(struct buffer *buffer, size_t size);
size_t buffer_append_string(struct buffer *buffer, const char *text);
/* Pads with `fill` up to a multiple of alignment, a power of two; returns the new size. */
size_t buffer_align(struct buffer *buffer, size_t alignment, uint8_t fill);

#endif
