#include "grinder/message.h"

#include <stdarg.h>
#include <stdio.h>

/* Control characters come from file names and traces; a terminal must not act on them. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

void message(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    make_printable(text);
    fprintf(stderr, "grinder: %s\n", text);
}
