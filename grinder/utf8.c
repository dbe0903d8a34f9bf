#include "grinder/utf8.h"

#include <inttypes.h>
#include <string.h>

#include "grinder/memory.h"

#define CHARACTER_SIZE 4 /* bytes at most */

/* Bytes of the character that begins with this one, 0 if none does; *value gets its bits. */
static int length_of(unsigned char first, uint32_t *value)
{
    static const struct {
        unsigned char mask, lead;
    } kinds[] = {{0x80, 0x00}, {0xe0, 0xc0}, {0xf0, 0xe0}, {0xf8, 0xf0}};

    for (int i = 0; i < CHARACTER_SIZE; i++) {
        *value = first & (unsigned char)~kinds[i].mask;
        if ((first & kinds[i].mask) == kinds[i].lead)
            return i + 1;
    }
    return 0;
}

/* Overlong forms, halves of UTF-16 pairs, noncharacters XML forbids, what lies past Unicode. */
static int is_character(uint32_t value, int length)
{
    static const uint32_t least[] = {0x20, 0x80, 0x800, 0x10000};

    return value >= least[length - 1] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff) &&
           (value < 0x7f || value > 0x9f) && value != 0xfffe && value != 0xffff;
}

uint32_t utf8_next(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    uint32_t value;
    int length;

    if (!bytes[0])
        return 0;
    ++*text;
    length = length_of(bytes[0], &value);
    if (!length)
        return UTF8_REPLACEMENT;
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return UTF8_REPLACEMENT;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (!is_character(value, length))
        return UTF8_REPLACEMENT;
    *text += length - 1;
    return value;
}

/* Returns how many bytes it took. */
static size_t encode(char out[CHARACTER_SIZE], uint32_t value)
{
    static const unsigned char leads[] = {0x00, 0xc0, 0xe0, 0xf0};
    size_t length = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;

    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (value & 0x3f));
        value >>= 6;
    }
    out[0] = (char)(leads[length - 1] | value);
    return length;
}

char *utf8_copy(const char *text)
{
    /* A byte becomes at most the three of UTF8_REPLACEMENT. */
    char *copy = memory_zeroed(strlen(text) * 3 + 1, 1), *end = copy;
    uint32_t value;

    while ((value = utf8_next(&text)))
        end += encode(end, value);
    return copy;
}

void utf8_write(FILE *stream, uint32_t value)
{
    char bytes[CHARACTER_SIZE];

    fwrite(bytes, 1, encode(bytes, value), stream);
}

void utf8_write_json(FILE *stream, const char *text)
{
    uint32_t value;

    putc('"', stream);
    while ((value = utf8_next(&text))) {
        if (value == '"' || value == '\\')
            putc('\\', stream);
        utf8_write(stream, value);
    }
    putc('"', stream);
}

void utf8_write_xml(FILE *stream, const char *text)
{
    uint32_t value;

    while ((value = utf8_next(&text))) {
        if (value == '<' || value == '>' || value == '&' || value == '"' || value == '\'')
            fprintf(stream, "&#%" PRIu32 ";", value);
        else
            utf8_write(stream, value);
    }
}
