#include "grinder/text.h"

static char printable(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}

void text_make_printable(char *text)
{
    for (; *text; text++)
        *text = printable(*text);
}

void text_write(FILE *stream, const char *text)
{
    for (; *text; text++)
        putc(printable(*text), stream);
}
