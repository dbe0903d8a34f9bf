#include "grinder/base/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/utf8.h"
#include "support/progress.h"

static bool is_muted;

void message_mute(bool on)
{
    is_muted = on;
}

void message(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    if (is_muted)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    utf8_sanitise(text);
    progress_clear();
    fprintf(stderr, "grinder: %s\n", text);
}
