#include "rewriter/base/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/progress.h"
#include "support/utf8.h"

static bool is_quiet;
static int lost; /* errno of the first thing that stdout did not take; 0 if it took all */

void say_problems_only(void)
{
    is_quiet = true;
    progress_disable();
}

/* A line: names in it come from files, and so may hold anything. */
static void say_line(FILE *stream, const char *format, va_list arguments)
{
    char *text = NULL;

    if (vasprintf(&text, format, arguments) < 0)
        return;
    utf8_write_plain(stream, text);
    putc('\n', stream);
    free(text);
}

void say_result(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    va_start(arguments, format);
    say_line(stdout, format, arguments);
    va_end(arguments);
    say_check_stdout();
}

/* On stderr, in front of which the line that shows progress is taken away. */
static void say_aside(const char *format, va_list arguments)
{
    progress_clear();
    fputs("instrument: ", stderr);
    say_line(stderr, format, arguments);
}

void say_note(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    va_start(arguments, format);
    say_aside(format, arguments);
    va_end(arguments);
}

void say_problem(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_aside(format, arguments);
    va_end(arguments);
}

void say_check_stdout(void)
{
    if (!lost && ferror(stdout))
        lost = errno;
}

bool say_end(struct failure *failure)
{
    if (fflush(stdout) != 0)
        say_check_stdout();
    return !lost || fail(failure, "standard output", "cannot write to it: %s", strerror(lost));
}
