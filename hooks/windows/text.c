#include "hooks/windows/text.h"

#include <stdint.h>

#define REPLACEMENT 0xfffd

/* The code point at from[*at], and *at behind it. */
static uint32_t next_of_wide(const wchar_t *from, size_t length, size_t *at)
{
    uint32_t first = from[(*at)++];

    if (first < 0xd800 || first > 0xdfff)
        return first;
    if (first > 0xdbff || *at == length || from[*at] < 0xdc00 || from[*at] > 0xdfff)
        return REPLACEMENT;
    return 0x10000 + ((first - 0xd800) << 10) + (from[(*at)++] - 0xdc00u);
}

static size_t utf8_length(uint32_t point)
{
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

static void put_utf8(char *to, uint32_t point, size_t length)
{
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = length; i-- > 1; point >>= 6)
        to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)(first[length] | point);
}

void text_from_wide(char *to, size_t size, const wchar_t *from, size_t length)
{
    size_t filled = 0;

    for (size_t at = 0; at < length;) {
        uint32_t point = next_of_wide(from, length, &at);
        size_t more = utf8_length(point);

        if (filled + more >= size)
            break;
        put_utf8(to + filled, point, more);
        filled += more;
    }
    to[filled] = 0;
}

/* Well-formed UTF-8 is expected; what is not becomes some other name, which is not found. */
static uint32_t next_of_utf8(const char **from)
{
    uint32_t point = (uint8_t) * (*from)++;
    int more = point >= 0xf0 ? 3 : point >= 0xe0 ? 2 : point >= 0xc0 ? 1 : 0;

    if (more)
        point &= 0x3fu >> more;
    for (; more && **from; more--)
        point = point << 6 | (*(*from)++ & 0x3f);
    return point;
}

bool text_to_wide(wchar_t *to, size_t size, const char *from)
{
    size_t filled = 0;

    while (*from) {
        uint32_t point = next_of_utf8(&from);

        if (filled + (point >= 0x10000 ? 2 : 1) >= size)
            return false;
        if (point >= 0x10000) {
            to[filled++] = (wchar_t)(0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + (point & 0x3ff);
        }
        to[filled++] = (wchar_t)point;
    }
    to[filled] = 0;
    return true;
}
