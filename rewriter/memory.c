#include "rewriter/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_exit(void *memory)
{
    if (!memory) {
        fputs("instrument: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void *memory_grow(void *items, size_t count, size_t *room, size_t item_size)
{
    if (count < *room)
        return items;
    *room = *room ? *room * 2 : 64;
    return or_exit(reallocarray(items, *room, item_size));
}

void *memory_zeroed(size_t count, size_t size)
{
    return or_exit(calloc(count ? count : 1, size));
}

static uint8_t *reserve(struct buffer *buffer, size_t size)
{
    if (buffer->room - buffer->size < size) {
        size_t room = buffer->room * 2 + 256;

        buffer->room = room - buffer->size < size ? buffer->size + size : room;
        buffer->bytes = or_exit(realloc(buffer->bytes, buffer->room));
    }
    buffer->size += size;
    return buffer->bytes + buffer->size - size;
}

size_t buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    if (size)
        memcpy(reserve(buffer, size), bytes, size);
    return buffer->size - size;
}

size_t buffer_append_zeros(struct buffer *buffer, size_t size)
{
    if (size)
        memset(reserve(buffer, size), 0, size);
    return buffer->size - size;
}

size_t buffer_append_string(struct buffer *buffer, const char *text)
{
    return buffer_append(buffer, text, strlen(text) + 1);
}

size_t buffer_align(struct buffer *buffer, size_t alignment, uint8_t fill)
{
    size_t missing = -buffer->size & (alignment - 1);

    if (missing)
        memset(reserve(buffer, missing), fill, missing);
    return buffer->size;
}
