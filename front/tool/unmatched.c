#include "front/tool/unmatched.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "front/base/asked.h"
#include "front/base/say.h"
#include "front/cache/instrumenting.h"

#define MOST_FILES 32
#define LARGEST    (32 << 20) /* bytes; libc, of 2 MB, takes 0.2 s */
#define SECONDS    60
#define MEMORY     (1ull << 30)

static bool chooses_functions(const struct words *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (!strncmp(options->list[i], "--include=", 10) ||
            !strncmp(options->list[i], "--exclude=", 10) ||
            !strncmp(options->list[i], "--time=", 7) || !strncmp(options->list[i], "--filter=", 9))
            return true;
    return false;
}

/* The patterns that match nothing in that file. Returns false if it cannot be told. */
static bool list_unmatched(const char *path, const struct words *options, struct words *patterns)
{
    const struct tool_limits limits = {
        .memory = MEMORY, .output = 1 << 20, .processor_seconds = SECONDS, .seconds = SECONDS};
    struct instrument_result result;
    struct words command = {0};
    struct stat status;
    char *rest = result.unmatched, *line;
    bool is_told;

    words_add(&command, "--list");
    words_add(&command, "--summary");
    words_add(&command, "--confined");
    words_add_all(&command, options->list);
    words_add(&command, "--");
    words_add(&command, path);
    is_told = stat(path, &status) == 0 && status.st_size <= LARGEST &&
              asked_instrument(&command, NULL, &limits, &result) == 0 &&
              result.outcome == INSTRUMENT_LISTED;
    while (is_told && (line = strsep(&rest, "\n")) && *line)
        words_add(patterns, line);
    words_free(&command);
    return is_told;
}

static bool has(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->list[i], word))
            return true;
    return false;
}

/* Keeps those that both lists have in the first one. */
static void keep_common(struct words *patterns, const struct words *others)
{
    struct words common = {0};

    for (size_t i = 0; i < patterns->count; i++)
        if (has(others, patterns->list[i]))
            words_add(&common, patterns->list[i]);
    words_free(patterns);
    *patterns = common;
}

/* Returns false if it cannot be told of all files. */
static bool find_unmatched(const struct words *files, const struct words *options,
                           struct words *patterns)
{
    if (!files->count || files->count > MOST_FILES ||
        !list_unmatched(files->list[0], options, patterns))
        return false;
    for (size_t i = 1; i < files->count && patterns->count; i++) {
        struct words others = {0};
        bool is_told = list_unmatched(files->list[i], options, &others);
        if (is_told)
            keep_common(patterns, &others);
        words_free(&others);
        if (!is_told)
            return false;
    }
    return true;
}

/* Adds the files in which a pattern, as --exclude='*', may have matched all. */
static void add_unhooked(const struct recording *recording, struct words *files)
{
    struct words left = {0};

    recording_list_files(recording, "left", &left);
    for (size_t i = 0; i < left.count; i++) {
        char *why = recording_why_left(recording, left.list[i]);
        if (why && strstr(why, ": " INSTRUMENTING_NOTHING))
            words_add(files, left.list[i]);
        free(why);
    }
    words_free(&left);
}

void unmatched_tell(const struct recording *recording, const struct words *options)
{
    struct words files = {0}, patterns = {0};

    if (!chooses_functions(options))
        return;
    recording_list_files(recording, "instrumented", &files);
    add_unhooked(recording, &files);
    if (find_unmatched(&files, options, &patterns))
        for (size_t i = 0; i < patterns.count; i++)
            say("%s matches nothing in what was recorded", patterns.list[i]);
    words_free(&files);
    words_free(&patterns);
}
