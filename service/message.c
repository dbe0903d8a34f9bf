#include "service/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define MESSAGE_SIZE 2048

void message(const char *format, ...)
{
    char line[MESSAGE_SIZE];
    size_t at = (size_t)snprintf(line, sizeof(line), "call_trace_service: ");
    size_t room = sizeof(line) - at - 1;
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line + at, room, format, arguments);
    va_end(arguments);

    for (size_t i = at; i < sizeof(line) && line[i]; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    }
    at += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
    line[at++] = '\n';
    if (write(STDERR_FILENO, line, at) < 0)
        return; /* there is nobody to tell */
}
