#include "front/tool/config.h"

#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "support/memory.h"
#include "support/private_group.h"
#include "support/regular_file.h"

/* The place of a line. */
struct place {
    const char *path;
    unsigned line;
};

__attribute__((format(printf, 2, 3), noreturn)) static void refuse(const struct place *place,
                                                                   const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    say_and_exit(STATUS_USAGE, "%s:%u: %s; --no-config does without this file", place->path,
                 place->line, text ? text : "");
}

/* --- the file --- */

/* To be freed; null if there is no home. A path that is not absolute does not count, as the XDG
   Base Directory Specification has it. */
static char *find_path(void)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (folder && *folder == '/')
        return memory_print("%s/umbra/config", folder);
    return home && *home == '/' ? memory_print("%s/.config/umbra/config", home) : NULL;
}

/* A line of it may run a command: bisect --check. */
static bool is_ones_own(int file)
{
    struct stat status;

    if (fstat(file, &status) < 0 || (status.st_uid != geteuid() && status.st_uid != 0) ||
        status.st_mode & S_IWOTH)
        return false;
    return !(status.st_mode & S_IWGRP) || group_is_private(status.st_gid, status.st_uid);
}

/* Null if there is none that is to be read. A home that this user may not look into has none. */
static FILE *open_file(const char *path)
{
    int file = regular_file_open(path);
    const char *why = file < 0 ? regular_file_error() : NULL;

    if (why && access(path, F_OK) == 0)
        say("%s: is not read: %s", path, why);
    if (file < 0)
        return NULL;
    if (!is_ones_own(file)) {
        say("%s: is not read: another user owns it, or may write it", path);
        close(file);
        return NULL;
    }
    return fdopen(file, "r");
}

/* --- a line --- */

/* What begins with # is a comment, behind a blank and not in quotation marks. Returns false if one
   of these is not closed, which popt does not tell. To popt a backslash counts within ' ', too. */
static bool cut_comment(char *line)
{
    char quote = 0, before = ' ';

    for (; *line; before = *line++) {
        if (*line == '#' && !quote && strchr(" \t", before)) {
            *line = 0;
            return true;
        }
        if (*line == '\\' && line[1])
            line++;
        else if (quote ? *line == quote : *line == '"' || *line == '\'')
            quote = quote ? 0 : *line;
    }
    return !quote;
}

/* To be freed; null if there are none. */
static const char **split(const struct place *place, char *line, int *count)
{
    const char **words = NULL;
    int error;

    line[strcspn(line, "\r\n")] = 0;
    if (!cut_comment(line))
        refuse(place, "a quotation mark is not closed");
    if (!line[strspn(line, " \t")])
        return NULL;
    error = poptParseArgvString(line, count, &words);
    if (error)
        refuse(place, "expected words, found %s: %s", line, poptStrerror(error));
    return words;
}

/* The one of the table that a word names; null if there is none, or it cannot stand in a file. */
static const struct command_option *find_option(enum verb verb, const char *word)
{
    const struct command_option *option = NULL;

    if (word[1] == '-')
        option = command_line_named(verb_options, 1u << verb, word + 2, strcspn(word + 2, "="));
    else if (!word[2])
        option = command_line_lettered(verb_options, 1u << verb, word[1]);
    return option && option->section != COMMAND_LINE_HIDDEN && !strchr("hV", option->code) &&
                   option->code != OPTION_NO_CONFIG
               ? option
               : NULL;
}

static const struct command_option *require_option(const struct place *place, enum verb verb,
                                                   const char *word)
{
    const struct command_option *option;

    if (*word != '-' || !word[1])
        refuse(place, "expected an option, found %s; a value stands behind =", word);
    option = find_option(verb, word);
    if (!option)
        refuse(place, "%s: umbra %s has no such option; umbra %s --help lists them", word,
               verb_name(verb), verb_name(verb));
    if (option->value && !strchr(word, '='))
        refuse(place, "%s: expected --%s=%s", word, option->name, option->value);
    if (!option->value && strchr(word, '='))
        refuse(place, "%s: expected --%s, which takes no value", word, option->name);
    return option;
}

/* --- what is typed instead --- */

/* Each says what umbra report is to show. */
static bool says_view(const char *word)
{
    return !strcmp(word, "--text") || !strncmp(word, "--mode=", 7) ||
           !strncmp(word, "--output-format=", 16);
}

/* Elsewhere the last option counts, or all that are given do. */
static bool is_overruled(enum verb verb, const char *word, char *const *typed)
{
    if (verb != VERB_REPORT || !says_view(word))
        return false;
    for (; *typed && strcmp(*typed, "--") != 0; typed++)
        if (says_view(*typed))
            return true;
    return false;
}

/* --- all lines --- */

static void take_line(struct config *config, const struct place *place, enum verb verb, char *line,
                      char *const *typed)
{
    size_t before = config->options.count;
    const char **words;
    char *origin;
    int count;

    words = split(place, line, &count);
    if (!words)
        return;
    if (verb_named(words[0]) == VERB_COUNT)
        refuse(place, "%s: expected a verb: record, report, top, diff, ls, cache or bisect",
               words[0]);
    origin = memory_print("%s:%u: %s", place->path, place->line, words[0]);
    for (int i = 1; i < count && verb_named(words[0]) == verb; i++) {
        char *longer;
        if (require_option(place, verb, words[i])->code == 'v')
            config->is_verbose = true;
        if (is_overruled(verb, words[i], typed))
            continue;
        words_add(&config->options, words[i]);
        longer = memory_print("%s %s", origin, words[i]);
        free(origin);
        origin = longer;
    }
    if (config->options.count > before)
        words_add(&config->origins, origin);
    free(origin);
    free(words);
}

void config_read(struct config *config, enum verb verb, char *const *typed)
{
    char *path = find_path(), *line = NULL;
    FILE *file = path ? open_file(path) : NULL;
    struct place place = {.path = path};
    size_t room = 0;

    *config = (struct config){0};
    while (file && getline(&line, &room, file) >= 0) {
        place.line++;
        take_line(config, &place, verb, line, typed);
    }
    if (file)
        fclose(file);
    free(line);
    free(path);
}

void config_free(struct config *config)
{
    words_free(&config->options);
    words_free(&config->origins);
}
