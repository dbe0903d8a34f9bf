/* umbra: one command for the three programs behind it. What it does is what they do; --verbose
   shows how it calls them. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/cache/cache_limit.h"
#include "front/tool/bisect.h"
#include "front/tool/config.h"
#include "front/tool/help.h"
#include "front/tool/inside.h"
#include "front/tool/list.h"
#include "front/tool/options.h"
#include "front/tool/record.h"
#include "front/tool/views.h"
#include "support/memory.h"
#include "support/nearest.h"

static int cache_main(int count, char **arguments)
{
    const char *limit = NULL;
    struct command_line line;
    bool is_clear = false;
    int status;

    verb_begin(&line, VERB_CACHE, count, arguments);
    while (verb_next(&line, VERB_CACHE)) {
        if (line.option->code == OPTION_CLEAR)
            is_clear = true;
        else if (line.option->code == OPTION_LIMIT)
            limit = line.value;
    }
    if (*line.rest)
        say_and_exit(STATUS_USAGE, "cache: expected an option, --clear or --limit=SIZE, found %s",
                     *line.rest);
    status = limit ? cache_set_limit(limit) : 0;
    if (status)
        return status;
    if (is_clear)
        return cache_clear();
    return limit ? 0 : cache_show();
}

static int (*const verbs[VERB_COUNT])(int count, char **arguments) = {
    [VERB_RECORD] = record_main, [VERB_REPORT] = report_main, [VERB_TOP] = top_main,
    [VERB_DIFF] = diff_main,     [VERB_LS] = list_main,       [VERB_CACHE] = cache_main,
    [VERB_BISECT] = bisect_main,
};

static int show_version(void)
{
    return puts("umbra " UMBRA_VERSION) < 0 || fflush(stdout) != 0 ? STATUS_FAILED : 0;
}

/* The words for a verb: it, what the config file has, what was typed. */
static void add_configured(struct words *words, enum verb verb, char **arguments,
                           const struct asked_first *asked)
{
    struct config config = {0};

    if (!asked->no_config)
        config_read(&config, verb, arguments + 1);
    if (asked->verbose || config.is_verbose)
        for (size_t i = 0; i < config.origins.count; i++)
            say("%s", config.origins.list[i]);
    words_add(words, arguments[0]);
    words_add_all(words, config.options.list);
    words_add_all(words, arguments + 1);
    config_free(&config);
}

static int run_verb(enum verb verb, int count, char **arguments)
{
    const struct asked_first asked = verb_asked_first(verb, count, arguments);
    static struct words words; /* verbs keep parts of them */

    if (asked.help)
        return help_show(verb);
    if (asked.version)
        return show_version();
    tools_speak_as(memory_print("umbra %s", verb_name(verb)));
    add_configured(&words, verb, arguments, &asked);
    return verbs[verb]((int)words.count, words.list);
}

#define VERBS "record, report, top, diff, ls, cache or bisect"

/* What other tools call it; null if that is not known. */
static const char *find_in_others(const char *word)
{
    static const struct {
        const char *word, *instead;
    } known[] = {
        {"stat", "umbra record -- PROGRAM, then umbra report --text"},
        {"annotate", "umbra report shows calls and times beside each line"},
        {"script", "umbra report --output-format=folded -o -"},
        {"dump", "umbra report --output-format=folded -o -"},
        {"list", "umbra ls"},
        {"info", "umbra ls"},
        {"live", "umbra record -- PROGRAM, and in another terminal umbra top"},
        {"trace", "umbra record --mode=calltrace -- PROGRAM"},
        {"replay", "of umbra record --mode=calltrace, umbra report --output-format=chrome"},
        {"graph", "umbra report --output-format=flamegraph"},
        {"tui", "umbra report"},
        {"attach", "Umbra joins no program that runs: umbra record -- PROGRAM"},
        {"run", "umbra record -- PROGRAM"},
        {"start", "umbra record -- PROGRAM, or call_trace_service start"},
        {"spawn", "call_trace_service spawn"},
        {"stop", "call_trace_service stop"},
        {"status", "call_trace_service status"},
        {"pause", "call_trace_service pause"},
        {"resume", "call_trace_service resume"},
        {"snapshot", "call_trace_service snapshot"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!strcmp(known[i].word, word))
            return known[i].instead;
    return NULL;
}

static const char *find_nearest(const char *word)
{
    struct nearest nearest = nearest_to(word, strlen(word));

    for (enum verb verb = 0; verb < VERB_COUNT; verb++)
        nearest_offer(&nearest, verb_name(verb));
    return nearest.word;
}

static enum verb require_verb(const char *word)
{
    enum verb verb = verb_named(word);
    const char *instead = find_in_others(word), *near = find_nearest(word);

    if (verb < VERB_COUNT)
        return verb;
    if (instead)
        say_and_exit(STATUS_USAGE, "%s: expected a verb: " VERBS "; instead: %s", word, instead);
    if (near)
        say_and_exit(STATUS_USAGE, "%s: expected a verb: " VERBS "; did you mean umbra %s?", word,
                     near);
    if (*word == '-')
        say_and_exit(STATUS_USAGE,
                     "%s: expected a verb in front of it: " VERBS "; to record a program: umbra "
                     "record -- PROGRAM",
                     word);
    say_and_exit(STATUS_USAGE,
                 "%s: expected a verb: " VERBS "; to record a program: umbra record -- %s", word,
                 word);
}

/* With the word behind it, if there is one. */
static int help_main(char **arguments)
{
    return arguments[1] ? help_show(require_verb(arguments[1])) : help_show_overview();
}

static bool is_one_of(const char *word, const char *one, const char *other)
{
    return !strcmp(word, one) || !strcmp(word, other);
}

/* Where the caller has closed one, no file of ours is to take its number. The program finds it
   closed. */
static void open_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int count, char **arguments)
{
    const char *word = count > 1 ? arguments[1] : NULL;

    open_standard_descriptors();
    if (!word)
        say_and_exit(STATUS_USAGE, "expected a verb: " VERBS "; umbra --help says more");
    if (!strcmp(word, "inside"))
        return inside_main(count, arguments);
    if (is_one_of(word, "--help", "-h") || !strcmp(word, "help"))
        return help_main(arguments + 1);
    if (is_one_of(word, "--version", "-V"))
        return show_version();
    if (!strcmp(word, "--print-verbs")) /* for completions, as the next */
        return help_print_verbs();
    if (!strcmp(word, "--print-options") && count > 2)
        return help_print_options(require_verb(arguments[2]));
    return run_verb(require_verb(word), count - 1, arguments + 1);
}
