#include "support/utf8.h"

#include <inttypes.h>
#include <string.h>

/* Controls are what acts on a terminal, and what changes the order in which text is shown (UAX #9);
   line and paragraph separators lie between the latter. */
static bool is_control(uint32_t value)
{
    return value < 0x20 || (value >= 0x7f && value < 0xa0) || value == 0x61c || value == 0x200e ||
           value == 0x200f || (value >= 0x2028 && value <= 0x202e) ||
           (value >= 0x2066 && value <= 0x2069);
}

/* Not past Unicode, no half of a UTF-16 pair, no noncharacter that XML forbids. */
static bool is_text(uint32_t value)
{
    return value <= 0x10ffff && (value < 0xd800 || value > 0xdfff) && value != 0xfffe &&
           value != 0xffff && !is_control(value);
}

/* Bytes of the good character at text, whose number goes to *value, or 0. A zero byte is no
 * continuation, so that nothing behind the end is read. */
static int character_at(const unsigned char *text, uint32_t *value)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least; /* fewer bytes would do for what is less */
    } forms[UTF8_CHARACTER_SIZE] = {
        {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    int form = 0;

    while (form < UTF8_CHARACTER_SIZE && (text[0] & forms[form].mask) != forms[form].lead)
        form++;
    if (form == UTF8_CHARACTER_SIZE)
        return 0;
    *value = text[0] & (uint32_t)~forms[form].mask & 0xff;
    for (int i = 1; i <= form; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *value = *value << 6 | (text[i] & 0x3f);
    }
    return *value >= forms[form].least && is_text(*value) ? form + 1 : 0;
}

uint32_t utf8_next(const char **text)
{
    uint32_t value = 0;
    int length;

    if (!**text)
        return 0;
    length = character_at((const unsigned char *)*text, &value);
    *text += length ? length : 1;
    return length ? value : UTF8_REPLACEMENT;
}

size_t utf8_encode(char bytes[UTF8_CHARACTER_SIZE], uint32_t value)
{
    static const unsigned char leads[] = {0x00, 0xc0, 0xe0, 0xf0};
    size_t length = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;

    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (value & 0x3f));
        value >>= 6;
    }
    bytes[0] = (char)(leads[length - 1] | value);
    return length;
}

/* What lies between text and the next bad byte; 0 if that is the first, or at the end. */
static size_t plain_length(const char *text)
{
    const char *end = text;
    uint32_t value;

    while (*end) {
        int length = character_at((const unsigned char *)end, &value);

        if (!length)
            break;
        end += length;
    }
    return (size_t)(end - text);
}

void utf8_sanitise(char *text)
{
    while (*(text += plain_length(text)))
        *text++ = '?';
}

bool utf8_is_plain(const char *text)
{
    return !text[plain_length(text)];
}

void utf8_write(FILE *stream, uint32_t value)
{
    char bytes[UTF8_CHARACTER_SIZE];

    fwrite(bytes, 1, utf8_encode(bytes, value), stream);
}

void utf8_write_plain(FILE *stream, const char *text)
{
    for (;;) {
        size_t length = plain_length(text);

        fwrite(text, 1, length, stream);
        text += length;
        if (!*text++)
            return;
        putc('?', stream);
    }
}

/* Also as East Asian keyboards have them. */
static bool begins_formula(const char *text)
{
    static const uint32_t signs[] = {'=', '+', '-', '@', '"', 0xff1d, 0xff0b, 0xff0d, 0xff20};
    uint32_t first;

    while ((first = utf8_next(&text)) == ' ' || first == 0xa0)
        continue;
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (first == signs[i])
            return true;
    return false;
}

void utf8_write_cell(FILE *stream, const char *text)
{
    if (begins_formula(text))
        putc('\'', stream);
    utf8_write_plain(stream, text);
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
