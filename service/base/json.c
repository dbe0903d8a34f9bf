#include "service/base/json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/utf8.h"

static size_t character_length(const char *at)
{
    size_t length = 1;

    while (((unsigned char)at[length] & 0xc0) == 0x80)
        length++;
    return length;
}

/* Control characters were replaced already: only two characters have to be escaped. */
char *json_string(char *string, size_t size, const char *text)
{
    char *plain = strdup(text);
    size_t at = 0;

    string[at++] = '"';
    if (plain)
        utf8_sanitise(plain);
    for (const char *from = plain; from && *from;) {
        size_t length = character_length(from);
        bool escaped = *from == '"' || *from == '\\';
        if (at + escaped + length + 2 > size)
            break;
        if (escaped)
            string[at++] = '\\';
        memcpy(string + at, from, length);
        at += length;
        from += length;
    }
    string[at++] = '"';
    string[at] = 0;
    free(plain);
    return string;
}
