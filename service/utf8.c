#include "service/utf8.h"

#include <stdint.h>

/* Bytes of the well-formed character at text, or 0; zero bytes are no continuation, so that
 * nothing behind the end is read. */
static int character_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        int length;
        uint32_t least;
    } forms[] = {
        {0xe0, 0xc0, 2, 0x80},
        {0xf0, 0xe0, 3, 0x800},
        {0xf8, 0xf0, 4, 0x10000},
    };

    if (*text < 0x80)
        return *text >= ' ' && *text != 127;
    for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        uint32_t value = *text & ~(uint32_t)forms[i].mask & 0xff;

        if ((*text & forms[i].mask) != forms[i].lead)
            continue;
        for (int at = 1; at < forms[i].length; at++) {
            if ((text[at] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (text[at] & 0x3f);
        }
        if (value < forms[i].least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ||
            value < 0xa0) /* U+0080 to U+009F control a terminal, too */
            return 0;
        return forms[i].length;
    }
    return 0;
}

void utf8_sanitise(char *text)
{
    while (*text) {
        int length = character_length((unsigned char *)text);

        if (!length) {
            *text = '?';
            length = 1;
        }
        text += length;
    }
}

bool utf8_is_plain(const char *text)
{
    while (*text) {
        int length = character_length((const unsigned char *)text);

        if (!length)
            return false;
        text += length;
    }
    return true;
}
