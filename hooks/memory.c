#include "hooks/memory.h"

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    void *start = to;

    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return start;
}

void *memset(void *to, int byte, size_t size)
{
    void *start = to;

    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
    return start;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;

    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

size_t text_length(const char *text)
{
    size_t length = 0;

    while (text[length])
        length++;
    return length;
}

bool text_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

void text_copy(char *to, size_t size, const char *from)
{
    size_t length = text_length(from);

    if (length >= size)
        length = size - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

void text_append(char *to, size_t size, const char *more)
{
    size_t length = text_length(to);

    text_copy(to + length, size - length, more);
}

void text_append_number(char *to, size_t size, uint32_t number)
{
    char digits[11] = {0};
    int first = 10;

    do
        digits[--first] = (char)('0' + number % 10);
    while (number /= 10);
    text_append(to, size, digits + first);
}

static bool begins_with(const char *text, const char *start)
{
    while (*start && *text == *start)
        text++, start++;
    return !*start;
}

const char *environment_value(char *const *environment, const char *name)
{
    size_t length = text_length(name);

    for (; environment && *environment; environment++)
        if (begins_with(*environment, name) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}
