#include "rewriter/base/failure.h"

#include <stdarg.h>
#include <stdio.h>

bool fail(struct failure *failure, const char *path, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(failure->text, sizeof(failure->text), "%.500s: ", path);

    va_start(arguments, format);
    vsnprintf(failure->text + length, sizeof(failure->text) - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}
