#include "rewriter/tool/options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/base/say.h"
#include "support/command_line.h"
#include "support/memory.h"

enum {
    OUTPUT = 1,
    OVERWRITE,
    AGENT,
    BUNDLE,
    INCLUDE,
    EXCLUDE,
    FILTER,
    TIME,
    IMPORTS,
    HOW,
    COUNT,
    ONCE,
    NO_CALLS,
    POISON,
    CONFINED,
    RESULT_FD,
    AWAY,
    UNWINDER,
    ORIGINAL,
    NO_VERIFY,
    LIST,
    SUMMARY,
    JSON,
    BISECT,
    VERIFY,
    UNDO,
    QUIET,
    HELP,
    VERSION,
    PRINT_OPTIONS,
    CODE_COUNT,
};

#define ALL COMMAND_LINE_ALL

#define PLACE_ALIGNMENT 4096

static const struct command_option table[] = {
    {NULL, 'o', "OUT", NULL, ALL, OUTPUT, 0, "write the result there"},
    {"overwrite", 0, NULL, NULL, ALL, OVERWRITE, 0,
     "replace OUT if it is a file, or for DIR a directory"},
    {"agent", 0, "PATH", NULL, ALL, AGENT, 0, "have OUT load this agent"},
    {"bundle", 0, NULL, NULL, ALL, BUNDLE, 0, "put a copy of the agent beside OUT"},
    {"include", 0, "PATTERN", NULL, ALL, INCLUDE, 0, "hook functions that match"},
    {"exclude", 0, "PATTERN", NULL, ALL, EXCLUDE, 0, "leave functions that match alone"},
    {"filter", 0, "FILE", NULL, ALL, FILTER, 0, "read patterns from a file"},
    {"time", 0, "PATTERN", NULL, ALL, TIME, 0,
     "have each call of functions that match timed: how long the slow ones take"},
    {"instrument-imports", 0, NULL, NULL, ALL, IMPORTS, 0,
     "also hook calls to functions of other images"},
    {"how", 0, "HOW", "copy prologue auto", ALL, HOW, 0,
     "auto (default): copy bodies where that is certain, and count their calls where they are "
     "made; prologue: hook each function's first instructions; copy: refuse what has no copies"},
    {"count", 0, "WHAT", "blocks instructions", ALL, COUNT, 0,
     "blocks: count how often each basic block runs; instructions: those that each context executes, or, with "
     "--no-calls, each function"},
    {"once", 0, NULL, NULL, ALL, ONCE, 0,
     "--count=blocks: note whether each has run, not how often"},
    {"no-calls", 0, NULL, NULL, ALL, NO_CALLS, 0,
     "with --count: record no calls, for the least cost"},
    {"poison", 0, NULL, NULL, ALL, POISON, 0,
     "overwrite what was copied, so that a test sees whether it still runs"},
    {"confined", 0, NULL, NULL, ALL, CONFINED, 0,
     "give up all rights but to read FILE and to write beside OUT"},
    {"result-fd", 0, "N", NULL, ALL, RESULT_FD, 0,
     "write what came of it, in lines for programs, to this open descriptor"},
    {"away", 0, "ADDRESS", NULL, ALL, AWAY, COMMAND_LINE_HIDDEN, NULL},
    {"unwinder", 0, NULL, NULL, ALL, UNWINDER, COMMAND_LINE_HIDDEN, NULL},
    {"original", 0, "PATH", NULL, ALL, ORIGINAL, COMMAND_LINE_HIDDEN, NULL},
    {"no-verify", 0, NULL, NULL, ALL, NO_VERIFY, 0, "do not check the result with LIEF"},
    {"list", 0, NULL, NULL, ALL, LIST, 0, "print each function and whether it is hooked"},
    {"summary", 0, NULL, NULL, ALL, SUMMARY, 0, "--list: numbers of functions only"},
    {"json", 0, NULL, NULL, ALL, JSON, 0, "--list: print JSON"},
    {"bisect", 0, NULL, NULL, ALL, BISECT, 0, "find the function whose hook makes -- COMMAND fail"},
    {"verify", 0, NULL, NULL, ALL, VERIFY, 0, "prove that FILE is its original but for the hooks"},
    {"undo", 0, NULL, NULL, ALL, UNDO, 0, "write the original of FILE, byte for byte"},
    {"quiet", 'q', NULL, NULL, ALL, QUIET, 0, "print nothing but errors; no progress, no warnings"},
    {"help", 'h', NULL, NULL, ALL, HELP, 0, "this page"},
    {"version", 'V', NULL, NULL, ALL, VERSION, 0, "print the version"},
    {"print-options", 0, NULL, NULL, ALL, PRINT_OPTIONS, COMMAND_LINE_HIDDEN, NULL},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL},
};

void options_show_help(void)
{
    fputs("Usage: instrument FILE|DIR -o OUT [OPTION]...\n"
          "       instrument --list|--verify FILE\n"
          "       instrument --undo FILE -o OUT\n"
          "       instrument --bisect [FILE] -- COMMAND\n"
          "\n"
          "Writes a copy of a program or library, or of a tree of them, in which every\n"
          "function is hooked that can be hooked safely.\n"
          "\n",
          stdout);
    command_line_print_help(table, ALL, 0, 24);
}

void options_print(void)
{
    command_line_print_options(table, ALL);
}

static enum options_outcome wrong(const char *problem, const char *what)
{
    say_problem("%s%s%s; see --help", what ? what : "", what ? ": " : "", problem);
    return OPTIONS_WRONG;
}

/* An option that there is not, or one without its value. */
static enum options_outcome wrong_option(const struct command_line *line)
{
    struct failure failure;

    if (line->fault == COMMAND_LINE_UNKNOWN && !strncmp(line->word, "--output", 8))
        return wrong("unknown option (did you mean -o OUT?)", line->word);
    command_line_check(line, &failure);
    return wrong(failure.text, NULL);
}

/* The last one given counts. */
static enum options_outcome keep(char **value, const char *text)
{
    free(*value);
    *value = memory_copy_string(text);
    return OPTIONS_FINE;
}

static enum options_outcome take_how(struct options *options, const struct command_line *line)
{
    static const enum rewrite_how hows[] = {REWRITE_COPY, REWRITE_PROLOGUE, REWRITE_AUTO};
    int place = command_line_find_value(line->option, line->value);
    char list[64], expected[128];

    if (place < 0) {
        snprintf(expected, sizeof(expected), "expected --how=%s",
                 command_line_list_values(line->option, list, sizeof(list)));
        return wrong(expected, line->value);
    }
    options->how = hows[place]; /* in the order of the table's values */
    return OPTIONS_FINE;
}

static enum options_outcome take_filter(struct options *options, const char *path)
{
    struct failure failure;

    if (filter_read(&options->filter, path, &failure))
        return OPTIONS_FINE;
    say_problem("%s", failure.text);
    return OPTIONS_UNREADABLE;
}

static enum options_outcome take_pattern(struct options *options, const struct command_line *line)
{
    int code = line->option->code;

    if (filter_add(code == TIME ? &options->times : &options->filter, code != EXCLUDE, line->value))
        return OPTIONS_FINE;
    return wrong(*line->value
                     ? "expected a range that ends behind its beginning, found an empty one"
                     : "expected a pattern, found none",
                 code == TIME      ? "--time"
                 : code == INCLUDE ? "--include"
                                   : "--exclude");
}

static enum options_outcome take_count(struct options *options, const struct command_line *line)
{
    switch (command_line_find_value(line->option, line->value)) {
    case 0:
        options->marks_blocks = true;
        return OPTIONS_FINE;
    case 1:
        options->counts_instructions = true;
        return OPTIONS_FINE;
    default:
        return wrong("expected --count=blocks or --count=instructions", line->value);
    }
}

/* -2, which is open nowhere, for what is no number. */
static enum options_outcome take_result_fd(struct options *options, const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);

    options->result_fd = *word && !*end && number >= 0 && number <= INT_MAX ? (int)number : -2;
    return OPTIONS_FINE;
}

/* For who puts hooks into a process: what is added goes to a free place of its address space. */
static enum options_outcome take_away(struct options *options, const char *word)
{
    char *end;

    options->away = strtoull(word, &end, 0);
    if (!*word || *end || !options->away || options->away % PLACE_ALIGNMENT)
        return wrong("expected the address of a page, as 0x7f000000", "--away");
    return OPTIONS_FINE;
}

static enum options_outcome take_option(struct options *options, const struct command_line *line)
{
    switch (line->option->code) {
    case OUTPUT:
        return keep(&options->output, line->value);
    case AGENT:
        return keep(&options->agent, line->value);
    case INCLUDE:
    case EXCLUDE:
    case TIME:
        return take_pattern(options, line);
    case FILTER:
        return take_filter(options, line->value);
    case HOW:
        return take_how(options, line);
    case COUNT:
        return take_count(options, line);
    case RESULT_FD:
        return take_result_fd(options, line->value);
    case AWAY:
        return take_away(options, line->value);
    case ORIGINAL:
        return keep(&options->original, line->value);
    }
    return OPTIONS_FINE;
}

static enum options_outcome check_result_fd(const struct options *options)
{
    int flags = fcntl(options->result_fd, F_GETFL);

    if (options->result_fd == -1)
        return OPTIONS_FINE;
    if (options->verb != VERB_REWRITE && options->verb != VERB_LIST)
        return wrong("--result-fd is for instrumenting and for --list", NULL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return wrong("expected a descriptor that is open for writing", "--result-fd");
    return OPTIONS_FINE;
}

/* Which options were given, by their codes. */
struct given {
    bool has[CODE_COUNT];
};

static enum verb find_verb(const struct given *given)
{
    return given->has[HELP]            ? VERB_HELP
           : given->has[VERSION]       ? VERB_VERSION
           : given->has[PRINT_OPTIONS] ? VERB_PRINT_OPTIONS
           : given->has[LIST]          ? VERB_LIST
           : given->has[VERIFY]        ? VERB_VERIFY
           : given->has[UNDO]          ? VERB_UNDO
           : given->has[BISECT]        ? VERB_BISECT
                                       : VERB_REWRITE;
}

static enum options_outcome check_verb(const struct options *options, const struct given *given)
{
    enum verb verb = options->verb;

    if (given->has[LIST] + given->has[VERIFY] + given->has[UNDO] + given->has[BISECT] > 1)
        return wrong("expected one of --list, --verify, --undo and --bisect, found several", NULL);
    if (verb == VERB_LIST && options->output)
        return wrong("--list takes no -o", NULL);
    if (verb == VERB_VERIFY && options->output)
        return wrong("--verify takes no -o", NULL);
    if ((options->summary || options->json) && verb != VERB_LIST)
        return wrong("--summary and --json are for --list", NULL);
    if (verb == VERB_BISECT && (options->output || options->overwrite || options->bundle))
        return wrong("--bisect takes no -o, --overwrite or --bundle: its copies are temporary",
                     NULL);
    if (options->away && (verb != VERB_REWRITE || given->has[COUNT] || given->has[IMPORTS] ||
                          options->bundle || options->how == REWRITE_COPY))
        return wrong("--away is for instrumenting prologues", NULL);
    if (options->unwinder && (!options->away || options->filter.count))
        return wrong("--unwinder is for --away, and takes no filters", NULL);
    if (options->original && (!options->away || options->original[0] != '/'))
        return wrong("--original is for --away, and an absolute path", NULL);
    if (verb == VERB_BISECT && !options->command)
        return wrong("--bisect: expected -- and a command that fails", NULL);
    if ((given->has[HOW] || options->poison) && verb != VERB_REWRITE && verb != VERB_LIST &&
        verb != VERB_BISECT)
        return wrong("--how and --poison are for instrumenting", NULL);
    if (options->confined && verb != VERB_REWRITE && verb != VERB_LIST)
        return wrong("--confined is for instrumenting and for --list", NULL);
    if (options->poison && options->how == REWRITE_PROLOGUE)
        return wrong("--poison is for --how=copy", NULL);
    if (options->times.count && verb != VERB_REWRITE && verb != VERB_LIST)
        return wrong("--time is for instrumenting and for --list", NULL);
    if (options->filter.count && verb != VERB_REWRITE && verb != VERB_LIST && verb != VERB_BISECT)
        return wrong("--include, --exclude and --filter are for instrumenting", NULL);
    return OPTIONS_FINE;
}

/* Without calls there are no contexts: then instructions are those of the blocks that ran. */
static void settle_count(struct options *options, const struct given *given)
{
    options->counts_blocks = (options->marks_blocks && !given->has[ONCE]) ||
                             (options->counts_instructions && options->no_calls);
    options->marks_blocks = options->marks_blocks && given->has[ONCE];
    options->counts_instructions = options->counts_instructions && !options->no_calls;
}

static enum options_outcome check_count(struct options *options, const struct given *given)
{
    if (given->has[ONCE] && !options->marks_blocks)
        return wrong("--once is for --count=blocks", NULL);
    if (options->no_calls && !given->has[COUNT])
        return wrong("--no-calls is for --count: there would be nothing to record", NULL);
    settle_count(options, given);
    if (given->has[COUNT] && options->verb != VERB_REWRITE)
        return wrong("--count is for instrumenting", NULL);
    return OPTIONS_FINE;
}

static enum options_outcome check_file(struct options *options, char *const *words)
{
    enum verb verb = options->verb;

    if (!words[0] && verb == VERB_BISECT)
        return OPTIONS_FINE;
    if (!words[0])
        return wrong("expected the image to instrument, found no FILE", NULL);
    if (words[1])
        return wrong("expected one FILE, found another", words[1]);
    if ((!options->output || !*options->output) && (verb == VERB_REWRITE || verb == VERB_UNDO))
        return wrong("expected -o OUT", words[0]);
    options->file = memory_copy_string(words[0]);
    return OPTIONS_FINE;
}

/* Where --bisect's command begins, behind "--"; null if there is none. */
static char **find_command(char **words)
{
    bool is_meant = false;

    for (char **word = words + 1; *word; word++) {
        is_meant = is_meant || strcmp(*word, "--bisect") == 0;
        if (strcmp(*word, "--") == 0)
            return is_meant && word[1] ? word + 1 : NULL;
    }
    return NULL;
}

static enum options_outcome read_options(struct options *options, struct given *given,
                                         struct command_line *line)
{
    enum options_outcome outcome = OPTIONS_FINE;

    while (outcome == OPTIONS_FINE && !given->has[HELP] && command_line_next(line)) {
        outcome = line->fault ? wrong_option(line) : take_option(options, line);
        if (outcome == OPTIONS_FINE)
            given->has[line->option->code] = true;
    }
    options->overwrite = given->has[OVERWRITE];
    options->bundle = given->has[BUNDLE];
    options->instrument_imports = given->has[IMPORTS];
    options->no_calls = given->has[NO_CALLS];
    options->poison = given->has[POISON];
    options->unwinder = given->has[UNWINDER];
    options->confined = given->has[CONFINED];
    options->no_verify = given->has[NO_VERIFY];
    options->summary = given->has[SUMMARY];
    options->json = given->has[JSON];
    options->quiet = given->has[QUIET];
    options->verb = find_verb(given);
    return outcome;
}

enum options_outcome options_read(struct options *options, int count, char **words)
{
    struct given given = {0};
    struct command_line line;
    char **command = find_command(words);
    enum options_outcome outcome;

    *options = (struct options){
        .times.option = "time", .result_fd = -1, .command = (const char **)command};
    if (command) { /* whose words are not ours */
        count = (int)(command - words) - 1;
        words[count] = NULL;
    }
    command_line_begin(&line, table, ALL, count, words);
    line.has_whole_names = true;
    outcome = read_options(options, &given, &line);
    if (outcome != OPTIONS_FINE || options->verb >= VERB_HELP)
        return outcome;
    outcome = check_verb(options, &given);
    if (outcome == OPTIONS_FINE)
        outcome = check_count(options, &given);
    if (outcome == OPTIONS_FINE)
        outcome = check_result_fd(options);
    return outcome == OPTIONS_FINE ? check_file(options, line.rest) : outcome;
}

void options_free(struct options *options)
{
    free(options->file);
    free(options->output);
    free(options->agent);
    free(options->original);
    filter_free(&options->filter);
    filter_free(&options->times);
}
