/*
 * How a C library of Windows splits the line: blanks separate; quotes enclose blanks; a backslash
 * is itself, but 2n of them before a quote are n, and 2n + 1 of them n and the quote itself.
 *
 *      a b    "a b"          a"b   "a\"b"          a b\   "a b\\"
 */
#include "service/launch/windows/command_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *argument)
{
    return *argument && !strpbrk(argument, " \t\n\v\"");
}

static char *append_backslashes(char *to, size_t count)
{
    memset(to, '\\', count);
    return to + count;
}

static char *append(char *to, const char *argument)
{
    size_t length = strlen(argument);

    memcpy(to, argument, length);
    return to + length;
}

static char *append_quoted(char *to, const char *argument)
{
    *to++ = '"';
    for (;;) {
        size_t count = strspn(argument, "\\");

        argument += count;
        if (!*argument) {
            to = append_backslashes(to, 2 * count);
            *to++ = '"';
            return to;
        }
        to = append_backslashes(to, *argument == '"' ? 2 * count + 1 : count);
        *to++ = *argument++;
    }
}

char *command_line_join(char **arguments)
{
    size_t size = 1;
    char *line, *to;

    for (char **at = arguments; *at; at++)
        size += 2 * strlen(*at) + 3;
    line = to = malloc(size);
    for (char **at = arguments; line && *at; at++) {
        if (to != line)
            *to++ = ' ';
        if (is_plain(*at))
            to = append(to, *at);
        else
            to = append_quoted(to, *at);
    }
    if (line)
        *to = 0;
    return line;
}
