#include "rewriter/say.h"

#include "support/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_quiet;

void say_nothing(void)
{
    is_quiet = true;
    progress_disable();
}

void say_result(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

void say_note(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    progress_clear();
    fputs("instrument: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
