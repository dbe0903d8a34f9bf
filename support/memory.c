#include "support/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/progress.h"
#include "support/utf8.h"

void *memory_or_exit(void *memory, size_t size)
{
    if (!memory) {
        progress_clear();
        fprintf(stderr, "%s: out of memory, %zu bytes wanted\n", program_invocation_short_name,
                size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

void *memory_zeroed(size_t count, size_t size)
{
    return memory_or_exit(calloc(count ? count : 1, size), count * size);
}

void *memory_grow(void *items, size_t count, size_t *room, size_t item_size)
{
    size_t more = *room ? *room * 2 : 16;

    if (count < *room)
        return items;
    *room = more;
    return memory_or_exit(reallocarray(items, more, item_size), more * item_size);
}

char *memory_print(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return memory_or_exit(length < 0 ? NULL : text, strlen(format));
}

char *memory_copy_string(const char *text)
{
    return memory_or_exit(strdup(text), strlen(text) + 1);
}

char *memory_copy_utf8(const char *text)
{
    /* A byte becomes at most the three of UTF8_REPLACEMENT. */
    char *copy = memory_zeroed(strlen(text) + 1, 3), *end = copy;
    uint32_t value;

    while ((value = utf8_next(&text)))
        end += utf8_encode(end, value);
    return copy;
}
