#include "support/failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Behind the first `length` bytes. */
static void add(struct failure *failure, size_t length, const char *format, va_list arguments)
{
    int kept = errno;

    vsnprintf(failure->text + length, sizeof(failure->text) - length, format, arguments);
    errno = kept;
}

bool fail(struct failure *failure, const char *path, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(failure->text, sizeof(failure->text), "%.1000s: ", path);

    va_start(arguments, format);
    add(failure, (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_because(struct failure *failure, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(failure, 0, format, arguments);
    va_end(arguments);
    return false;
}
