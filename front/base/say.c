#include "front/base/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/utf8.h"

static bool shows_commands;

static void say_list(const char *format, va_list arguments)
{
    char *text = NULL;

    if (vasprintf(&text, format, arguments) < 0)
        return;
    utf8_sanitise(text);
    fprintf(stderr, "umbra: %s\n", text);
    free(text);
}

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
}

void say_and_exit(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
    exit(status);
}

void say_commands(void)
{
    shows_commands = true;
}

static void print_word(FILE *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=./:,+@%";

    if (*word && !word[strspn(word, plain)]) {
        fputs(word, line);
        return;
    }
    putc('\'', line);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\'", line);
        putc(*word, line);
    }
    putc('\'', line);
}

char *say_quoted(const char *word)
{
    char *text = NULL;
    size_t size;
    FILE *line = open_memstream(&text, &size);

    if (!line)
        return memory_copy_string(word);
    print_word(line, word);
    fclose(line);
    return text;
}

void say_command(char *const *arguments)
{
    char *text = NULL;
    size_t size;
    FILE *line;

    if (!shows_commands || !(line = open_memstream(&text, &size)))
        return;
    for (size_t i = 0; arguments[i]; i++) {
        if (i)
            putc(' ', line);
        print_word(line, arguments[i]);
    }
    fclose(line);
    say("+ %s", text);
    free(text);
}
