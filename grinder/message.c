#include "grinder/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "grinder/text.h"

void message(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    text_make_printable(text);
    fprintf(stderr, "grinder: %s\n", text);
}
