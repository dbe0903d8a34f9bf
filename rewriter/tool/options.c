#include "rewriter/tool/options.h"

#include <fcntl.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/base/say.h"
#include "support/nearest.h"

/* Values that poptGetNextOpt hands out, for options that may be given again. */
enum {
    OPTION_INCLUDE = 1,
    OPTION_EXCLUDE,
    OPTION_FILTER,
    OPTION_TIME,
    OPTION_OUTPUT,
    OPTION_AGENT,
    OPTION_HOW,
    OPTION_COUNT,
};

static struct options given = {.times.option = "time", .result_fd = -1};
static int once, list, verify, undo, bisect, version;
static bool has_how;

static const struct poptOption option_table[] = {
    {NULL, 'o', POPT_ARG_STRING, NULL, OPTION_OUTPUT, "write the result there", "OUT"},
    {"overwrite", 0, POPT_ARG_NONE, &given.overwrite, 0,
     "replace OUT if it is a file, or for DIR a directory", NULL},
    {"agent", 0, POPT_ARG_STRING, NULL, OPTION_AGENT, "have OUT load this libhooks.so or hooks.dll",
     "PATH"},
    {"bundle", 0, POPT_ARG_NONE, &given.bundle, 0, "put a copy of the agent beside OUT", NULL},
    {"include", 0, POPT_ARG_STRING, NULL, OPTION_INCLUDE, "hook functions that match", "PATTERN"},
    {"exclude", 0, POPT_ARG_STRING, NULL, OPTION_EXCLUDE, "leave functions that match alone",
     "PATTERN"},
    {"filter", 0, POPT_ARG_STRING, NULL, OPTION_FILTER, "read patterns from a file", "FILE"},
    {"time", 0, POPT_ARG_STRING, NULL, OPTION_TIME,
     "have each call of functions that match timed: how long the slow ones take", "PATTERN"},
    {"instrument-imports", 0, POPT_ARG_NONE, &given.instrument_imports, 0,
     "also hook calls to functions of other images", NULL},
    {"how", 0, POPT_ARG_STRING, NULL, OPTION_HOW,
     "auto (default): copy bodies where that is certain, and count their calls where they are "
     "made; prologue: hook each function's first instructions; copy: refuse what has no copies",
     "HOW"},
    {"count", 0, POPT_ARG_STRING, NULL, OPTION_COUNT,
     "blocks: note which basic blocks run; with --once", "WHAT"},
    {"once", 0, POPT_ARG_NONE, &once, 0, "--count=blocks: whether each has run, not how often",
     NULL},
    {"no-calls", 0, POPT_ARG_NONE, &given.no_calls, 0,
     "--count=blocks: record no calls, for the least cost", NULL},
    {"poison", 0, POPT_ARG_NONE, &given.poison, 0,
     "overwrite what was copied, so that a test sees whether it still runs", NULL},
    {"confined", 0, POPT_ARG_NONE, &given.confined, 0,
     "give up all rights but to read FILE and to write beside OUT", NULL},
    {"result-fd", 0, POPT_ARG_INT, &given.result_fd, 0,
     "write what came of it, in lines for programs, to this open descriptor", "N"},
    {"no-verify", 0, POPT_ARG_NONE, &given.no_verify, 0, "do not check the result with LIEF", NULL},
    {"list", 0, POPT_ARG_NONE, &list, 0, "print each function and whether it is hooked", NULL},
    {"summary", 0, POPT_ARG_NONE, &given.summary, 0, "--list: numbers of functions only", NULL},
    {"json", 0, POPT_ARG_NONE, &given.json, 0, "--list: print JSON", NULL},
    {"bisect", 0, POPT_ARG_NONE, &bisect, 0, "find the function whose hook makes -- COMMAND fail",
     NULL},
    {"verify", 0, POPT_ARG_NONE, &verify, 0, "prove that FILE is its original but for the hooks",
     NULL},
    {"undo", 0, POPT_ARG_NONE, &undo, 0, "write the original of FILE, byte for byte", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &given.quiet, 0,
     "print nothing but errors; no progress, no warnings", NULL},
    {"version", 'V', POPT_ARG_NONE, &version, 0, "print the version", NULL},
    POPT_AUTOHELP POPT_TABLEEND,
};

static enum options_outcome wrong(const char *problem, const char *what)
{
    say_problem("%s%s%s; see --help", what ? what : "", what ? ": " : "", problem);
    return OPTIONS_WRONG;
}

/* An option that there is not, or one without its value. */
static enum options_outcome wrong_option(const char *word, int error)
{
    struct nearest nearest = nearest_to(word + 2, strcspn(word + 2, "="));

    if (error != POPT_ERROR_BADOPT || strncmp(word, "--", 2) != 0)
        return wrong(poptStrerror(error), word);
    for (size_t i = 0; i < sizeof(option_table) / sizeof(*option_table); i++)
        if (option_table[i].longName)
            nearest_offer(&nearest, option_table[i].longName);
    if (!strncmp(word, "--output", 8))
        say_problem("%s: unknown option (did you mean -o OUT?); see --help", word);
    else if (nearest.word)
        say_problem("%s: unknown option (did you mean --%s?); see --help", word, nearest.word);
    else
        return wrong(poptStrerror(error), word);
    return OPTIONS_WRONG;
}

/* The last one given counts. */
static enum options_outcome keep(char **value, char *text)
{
    free(*value);
    *value = text;
    return OPTIONS_FINE;
}

static enum options_outcome take_how(const char *word)
{
    static const struct {
        const char *word;
        enum rewrite_how how;
    } words[] = {{"prologue", REWRITE_PROLOGUE}, {"copy", REWRITE_COPY}, {"auto", REWRITE_AUTO}};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(word, words[i].word) == 0) {
            given.how = words[i].how;
            has_how = true;
            return OPTIONS_FINE;
        }
    return wrong("expected --how=copy, prologue or auto", word);
}

static enum options_outcome take_count(const char *word)
{
    if (strcmp(word, "blocks") != 0)
        return wrong("expected --count=blocks", word);
    given.marks_blocks = true;
    return OPTIONS_FINE;
}

/* Takes in an option that popt does not store by itself. */
static enum options_outcome next_option(poptContext context, int option)
{
    char *text = poptGetOptArg(context);
    enum options_outcome outcome = OPTIONS_FINE;
    struct failure failure;

    if (option == OPTION_OUTPUT)
        return keep(&given.output, text);
    if (option == OPTION_AGENT)
        return keep(&given.agent, text);
    if (option == OPTION_HOW || option == OPTION_COUNT) {
        outcome = option == OPTION_HOW ? take_how(text) : take_count(text);
        free(text);
        return outcome;
    }
    if (option == OPTION_FILTER && !filter_read(&given.filter, text, &failure)) {
        say_problem("%s", failure.text);
        outcome = OPTIONS_UNREADABLE;
    } else if (option != OPTION_FILTER &&
               !filter_add(option == OPTION_TIME ? &given.times : &given.filter,
                           option != OPTION_EXCLUDE, text)) {
        outcome =
            wrong(*text ? "expected a range that ends behind its beginning, found an empty one"
                        : "expected a pattern, found none",
                  option == OPTION_TIME      ? "--time"
                  : option == OPTION_INCLUDE ? "--include"
                                             : "--exclude");
    }
    free(text);
    return outcome;
}

static enum options_outcome check_result_fd(void)
{
    int flags = fcntl(given.result_fd, F_GETFL);

    if (given.result_fd == -1)
        return OPTIONS_FINE;
    if (given.verb != VERB_REWRITE && given.verb != VERB_LIST)
        return wrong("--result-fd is for instrumenting and for --list", NULL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return wrong("expected a descriptor that is open for writing", "--result-fd");
    return OPTIONS_FINE;
}

static enum options_outcome check_count(void)
{
    if (once && !given.marks_blocks)
        return wrong("--once is for --count=blocks", NULL);
    if (given.no_calls && !given.marks_blocks)
        return wrong("--no-calls is for --count=blocks: there would be nothing to record", NULL);
    if (given.marks_blocks && !once)
        return wrong("--count=blocks: expected --once, as how often each block runs cannot be "
                     "counted yet",
                     NULL);
    if (given.marks_blocks && given.verb != VERB_REWRITE)
        return wrong("--count is for instrumenting", NULL);
    return OPTIONS_FINE;
}

static enum options_outcome check_verb(void)
{
    if (list + verify + undo + bisect > 1)
        return wrong("expected one of --list, --verify, --undo and --bisect, found several", NULL);
    given.verb = version  ? VERB_VERSION
                 : list   ? VERB_LIST
                 : verify ? VERB_VERIFY
                 : undo   ? VERB_UNDO
                 : bisect ? VERB_BISECT
                          : VERB_REWRITE;
    if (given.verb == VERB_LIST && given.output)
        return wrong("--list takes no -o", NULL);
    if (given.verb == VERB_VERIFY && given.output)
        return wrong("--verify takes no -o", NULL);
    if ((given.summary || given.json) && given.verb != VERB_LIST)
        return wrong("--summary and --json are for --list", NULL);
    if (bisect && (given.output || given.overwrite || given.bundle))
        return wrong("--bisect takes no -o, --overwrite or --bundle: its copies are temporary",
                     NULL);
    if (bisect && !given.command)
        return wrong("--bisect: expected -- and a command that fails", NULL);
    if ((has_how || given.poison) && given.verb != VERB_REWRITE && given.verb != VERB_LIST &&
        given.verb != VERB_BISECT)
        return wrong("--how and --poison are for instrumenting", NULL);
    if (given.confined && given.verb != VERB_REWRITE && given.verb != VERB_LIST)
        return wrong("--confined is for instrumenting and for --list", NULL);
    if (given.poison && given.how == REWRITE_PROLOGUE)
        return wrong("--poison is for --how=copy", NULL);
    if (given.times.count && given.verb != VERB_REWRITE && given.verb != VERB_LIST)
        return wrong("--time is for instrumenting and for --list", NULL);
    if (given.filter.count && given.verb != VERB_REWRITE && given.verb != VERB_LIST &&
        given.verb != VERB_BISECT)
        return wrong("--include, --exclude and --filter are for instrumenting", NULL);
    return OPTIONS_FINE;
}

static enum options_outcome check_file(poptContext context)
{
    const char *file;

    if (given.verb == VERB_VERSION)
        return OPTIONS_FINE;
    file = poptGetArg(context);
    if (!file && given.verb == VERB_BISECT)
        return OPTIONS_FINE;
    if (!file)
        return wrong("expected the image to instrument, found no FILE", NULL);
    if (poptPeekArg(context))
        return wrong("expected one FILE, found another", poptPeekArg(context));
    if ((!given.output || !*given.output) &&
        (given.verb == VERB_REWRITE || given.verb == VERB_UNDO))
        return wrong("expected -o OUT", file);
    given.file = strdup(file);
    return OPTIONS_FINE;
}

/* Where --bisect's command begins, behind "--"; else count. */
static int find_command(int count, const char **arguments)
{
    bool is_meant = false;

    for (int i = 1; i < count; i++) {
        is_meant = is_meant || strcmp(arguments[i], "--bisect") == 0;
        if (strcmp(arguments[i], "--") == 0)
            return is_meant && i + 1 < count ? i + 1 : count;
    }
    return count;
}

enum options_outcome options_read(struct options *options, int count, const char **arguments)
{
    int command = find_command(count, arguments);
    poptContext context = poptGetContext("instrument", command < count ? command - 1 : count,
                                         arguments, option_table, 0);
    enum options_outcome outcome = OPTIONS_FINE;
    int option;

    given.command = command < count ? arguments + command : NULL;

    poptSetOtherOptionHelp(context, "FILE|DIR -o OUT [OPTION...]  or  --list|--verify FILE"
                                    "  or  --undo FILE -o OUT  or  --bisect [FILE] -- COMMAND");
    while (outcome == OPTIONS_FINE && (option = poptGetNextOpt(context)) > 0)
        outcome = next_option(context, option);
    if (outcome == OPTIONS_FINE && option < -1)
        outcome = wrong_option(poptBadOption(context, POPT_BADOPTION_NOALIAS), option);
    if (outcome == OPTIONS_FINE)
        outcome = check_verb();
    if (outcome == OPTIONS_FINE)
        outcome = check_count();
    if (outcome == OPTIONS_FINE)
        outcome = check_result_fd();
    if (outcome == OPTIONS_FINE)
        outcome = check_file(context);
    poptFreeContext(context);
    *options = given;
    return outcome;
}

void options_free(struct options *options)
{
    free(options->file);
    free(options->output);
    free(options->agent);
    filter_free(&options->filter);
    filter_free(&options->times);
}
