#include "service/base/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/base/log_file.h"
#include "service/base/system_clock.h"
#include "support/utf8.h"

#define MESSAGE_SIZE 2048

static char *log_path;
static int log_file = -1;
static const char *own_name = "call_trace_service";

void message_name(const char *argument)
{
    if (argument && !strncmp(argument, "umbra ", 6))
        own_name = argument;
}

static size_t write_start(char *line, size_t size)
{
    uint64_t now = system_clock_real_ns();
    time_t seconds = (time_t)(now / 1000000000);
    const struct tm *utc = log_file < 0 ? NULL : gmtime(&seconds);
    char date[32];

    if (!utc || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", utc))
        return (size_t)snprintf(line, size, "%s: ", own_name);
    return (size_t)snprintf(line, size, "%s.%03uZ call_trace_service[%d]: ", date,
                            (unsigned)(now / 1000000 % 1000), (int)getpid());
}

void message(const char *format, ...)
{
    char line[MESSAGE_SIZE];
    size_t at = write_start(line, sizeof(line));
    size_t room = sizeof(line) - at - 1;
    va_list arguments;

    line[at] = 0;
    va_start(arguments, format);
    int length = vsnprintf(line + at, room, format, arguments);
    va_end(arguments);

    utf8_sanitise(line + at);
    at += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
    line[at++] = '\n';
    if (write(log_file < 0 ? STDERR_FILENO : log_file, line, at) < 0)
        return; /* there is nobody to tell */
}

bool message_open_log(const char *path)
{
    log_path = log_file_absolute(path);
    log_file = log_path ? log_file_open(log_path) : -1;
    if (log_file < 0)
        message("%s: cannot open the log file: %s", path,
                errno == ELOOP || errno == EINVAL || errno == ENXIO ? "expected a regular file"
                                                                    : strerror(errno));
    return log_file >= 0;
}

void message_reopen_log(void)
{
    int anew = log_path ? log_file_open(log_path) : -1;

    if (anew < 0) {
        if (log_path)
            message("%s: cannot open the log file anew: %s", log_path, strerror(errno));
        return;
    }
    close(log_file);
    log_file = anew;
}

bool message_has_log(void)
{
    return log_file >= 0;
}
