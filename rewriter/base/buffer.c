#include "rewriter/base/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

static uint8_t *reserve(struct buffer *buffer, size_t size)
{
    if (buffer->room - buffer->size < size) {
        size_t room = buffer->room * 2 + 256;

        buffer->room = room - buffer->size < size ? buffer->size + size : room;
        buffer->bytes = memory_or_exit(realloc(buffer->bytes, buffer->room), buffer->room);
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
