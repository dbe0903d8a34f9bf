#include "rewriter/base/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

void buffer_grow(struct buffer *buffer, size_t size)
{
    size_t room = buffer->room * 2 + 256;

    buffer->room = room - buffer->size < size ? buffer->size + size : room;
    buffer->bytes = memory_or_exit(realloc(buffer->bytes, buffer->room), buffer->room);
}

size_t buffer_append_zeros(struct buffer *buffer, size_t size)
{
    if (size)
        memset(buffer_reserve(buffer, size), 0, size);
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
        memset(buffer_reserve(buffer, missing), fill, missing);
    return buffer->size;
}
