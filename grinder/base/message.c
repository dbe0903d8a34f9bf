#include "grinder/base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/progress.h"
#include "support/utf8.h"

static bool is_muted;
static const char *own_name = "grinder";

void message_name(const char *argument)
{
    if (argument && !strncmp(argument, "umbra ", 6))
        own_name = argument;
}

const char *message_own_name(void)
{
    return own_name;
}

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
    fprintf(stderr, "%s: %s\n", own_name, text);
}

void message_failure(const struct failure *failure)
{
    message("%s", failure->text);
}
