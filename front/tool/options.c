#include "front/tool/options.h"

#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "support/memory.h"

#define OF(verb) (1u << VERB_##verb)
#define RUNS     (OF(RECORD) | OF(BISECT))
#define VIEWS    (OF(REPORT) | OF(TOP) | OF(DIFF))
#define ALL      ((1u << VERB_COUNT) - 1)

#define FORMATS                                                                                    \
    "callgrind folded flamegraph pprof speedscope tsv tsv-edges json baseline chrome perfetto firefox"

const struct command_option verb_options[] = {
    {"check", 0, "COMMAND", NULL, OF(BISECT), OPTION_CHECK, HELP_OWN,
     "it fails if this shell command, run after it, does"},
    {"output", 'o', "FOLDER", NULL, OF(RECORD), 'o', HELP_OWN, "the recording (umbra.data)"},
    {"children", 0, "no", "yes no", RUNS, OPTION_CHILDREN, HELP_OWN,
     "only the program itself, not what it runs"},
    {"in-place", 0, "no", "yes no", RUNS, OPTION_IN_PLACE, HELP_OWN,
     "use no namespaces: run files beside their originals"},
    {"include", 0, "PATTERN", NULL, RUNS, OPTION_INSTRUMENT, HELP_OWN, "hook functions that match"},
    {"exclude", 0, "PATTERN", NULL, RUNS, OPTION_INSTRUMENT, HELP_OWN,
     "leave functions that match alone"},
    {"filter", 0, "FILE", NULL, RUNS, OPTION_INSTRUMENT, HELP_OWN, "read patterns from a file"},
    {"time", 0, "PATTERN", NULL, RUNS, OPTION_INSTRUMENT, HELP_OWN,
     "time each call of functions that match: p50 to p99.9"},
    {"leave", 0, "PATTERN", NULL, RUNS, OPTION_LEAVE, HELP_OWN,
     "leave files that match; with ! in front: do not"},
    {"instrument-imports", 0, NULL, NULL, RUNS, OPTION_INSTRUMENT, HELP_OWN,
     "also hook calls to functions of other images"},
    {"how", 0, "WAY", "prologue copy auto samples", RUNS, OPTION_HOW, HELP_OWN,
     "auto (default) copies bodies where certain; samples"},
    {"count", 0, "WHAT", "blocks instructions", OF(RECORD), OPTION_INSTRUMENT, HELP_OWN,
     "instructions of each context; how often blocks run"},
    {"once", 0, NULL, NULL, OF(RECORD), OPTION_INSTRUMENT, HELP_OWN,
     "--count=blocks: whether, not how often"},
    {"no-calls", 0, NULL, NULL, OF(RECORD), OPTION_INSTRUMENT, HELP_OWN,
     "with --count: no calls, for the least cost"},
    {"pid", 'p', "PID", NULL, OF(RECORD), 'p', HELP_OWN,
     "sample a process that runs, until it ends or ^C"},
    {"twice", 0, NULL, NULL, OF(RECORD), OPTION_TWICE, HELP_OWN,
     "run it again as it is: exact calls, native times"},
    {"mode", 0, "MODE", "profile calltrace", RUNS, OPTION_SERVICE, HELP_OWN,
     "profile (default), calltrace: each call with times"},
    {"timing", 0, "WAY", "adaptive exact samples none", RUNS, OPTION_SERVICE, HELP_OWN,
     "samples (default); of calls: adaptive, exact; none"},
    {"samples", 0, "HZ", NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "a second of processor time (1000); perf, timer, no"},
    {"slices", 0, "N", NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "time slices for the page (200); 0: none"},
    {"node-limit", 0, "N", NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "calling contexts that a thread may have (1048576)"},
    {"max-trace-size", 0, "BYTES", NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "what a trace may grow to (1G); K, M, G may follow"},
    {"ring-size", 0, "BYTES", NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "calltrace: memory for events not yet written (64M)"},
    {"max-events-size", 0, "BYTES", NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "calltrace: events on disk; past it, it stops"},
    {"keep-newest", 0, NULL, NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "calltrace: past it, the oldest events go instead"},
    {"paused", 0, NULL, NULL, RUNS, OPTION_SERVICE, HELP_OWN,
     "record nothing before call_trace_service resume"},

    {"text", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, HELP_OWN,
     "print the summary instead of writing the page"},
    {"output-format", 0, "NAME", FORMATS, OF(REPORT), OPTION_VIEW, HELP_OWN,
     "a profile: callgrind, flamegraph, pprof and others"},
    {"output-format", 0, "NAME", "table tsv folded flamegraph", OF(DIFF), OPTION_VIEW, HELP_OWN,
     "table, tsv, folded or flamegraph"},
    {"output-file", 'o', "FILE", NULL, OF(REPORT) | OF(DIFF), OPTION_VIEW, HELP_OWN,
     "where to write, - for standard output"},

    {"left", 0, NULL, NULL, OF(LS), OPTION_LEFT, HELP_OWN,
     "what a recording left as it was, and why"},
    {"json", 0, NULL, NULL, OF(LS), OPTION_JSON, HELP_OWN,
     "print an array of objects, for programs"},

    {"clear", 0, NULL, NULL, OF(CACHE), OPTION_CLEAR, HELP_OWN,
     "remove what is in it; recordings keep what they need"},
    {"limit", 0, "SIZE", NULL, OF(CACHE), OPTION_LIMIT, HELP_OWN,
     "let it grow to that size (4G); K, M, G, T may follow"},

    {"quiet", 'q', NULL, NULL, RUNS | VIEWS, 'q', HELP_OWN, "no progress, and no word at the end"},
    {"verbose", 'v', NULL, NULL, ALL, 'v', HELP_OWN, "show the commands that are run"},
    {"no-config", 0, NULL, NULL, ALL, OPTION_NO_CONFIG, HELP_OWN,
     "without the options in ~/.config/umbra/config"},
    {"help", 'h', NULL, NULL, ALL, 'h', HELP_OWN, "this page"},
    {"version", 'V', NULL, NULL, ALL, 'V', HELP_OWN, "the version"},

    {"mode", 0, "MODE", "report profile summary stack", OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "report (default), profile, summary or stack"},
    {"process", 0, "PATTERN", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "only processes of that pid or name"},
    {"thread", 0, "PATTERN", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "only threads of that tid or name"},
    {"function", 0, "PATTERN", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "only functions that match, and all they call"},
    {"merge", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "all threads of all processes as one"},
    {"split", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "a page in several files; a profile for each thread"},
    {"weight", 0, "WEIGHT", "ns calls instructions", VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "what flamegraph and others show: ns, calls or instructions"},
    {"from", 0, "SECONDS", NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "time lines (chrome, perfetto): begin there"},
    {"to", 0, "SECONDS", NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER, "time lines: end there"},
    {"threshold", 0, "PERCENT", NULL, OF(DIFF), OPTION_VIEW, HELP_OF_GRINDER,
     "exit status 1 if something changed by more than that"},
    {"again", 0, "FOLDER", NULL, OF(DIFF), OPTION_VIEW, HELP_OF_GRINDER,
     "a second recording of the first build: what differs is not judged"},
    {"top", 0, "N", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER, "so many functions in a table (20)"},
    {"sort", 0, "ORDER", "self inclusive calls wait p99 instructions", OF(REPORT), OPTION_VIEW,
     HELP_OF_GRINDER, "with --text: the one table, by that"},
    {"no-pager", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "with --text: no pager on a terminal"},
    {"interval", 0, "SECONDS", NULL, OF(TOP), OPTION_VIEW, HELP_OF_GRINDER,
     "the time between refreshes (2)"},
    {"count", 0, "N", NULL, OF(TOP), OPTION_VIEW, HELP_OF_GRINDER, "end after N refreshes"},
    {"once", 0, NULL, NULL, OF(TOP), OPTION_VIEW, HELP_OF_GRINDER,
     "print one table and end, as without a terminal"},
    {"path-map", 0, "FROM=TO", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "files named below FROM are below TO here"},
    {"debug-dir", 0, "FOLDER", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "look for separate debug files here, too"},
    {"no-debuginfod", 0, NULL, NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "ask no server for debug files"},
    {"jit-map", 0, "FILE", NULL, VIEWS, OPTION_VIEW, HELP_OF_GRINDER,
     "names of code made at run time: a perf map, a jitdump"},
    {"times-from", 0, "FOLDER", NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "times of a recording by --how=samples, counts of this"},
    {"source-root", 0, "FOLDER", NULL, OF(REPORT), OPTION_VIEW, HELP_OF_GRINDER,
     "embed sources there though not all may read them"},

    /* What perf record has under these letters; record_options.c says which of them Umbra
       understands. */
    {NULL, 'g', NULL, NULL, OF(RECORD), 'g', COMMAND_LINE_HIDDEN, NULL},
    {NULL, 'F', "HZ", NULL, OF(RECORD), 'F', COMMAND_LINE_HIDDEN, NULL},
    {NULL, 'a', NULL, NULL, OF(RECORD), 'a', COMMAND_LINE_HIDDEN, NULL},
    {NULL, 'e', "EVENT", NULL, OF(RECORD), 'e', COMMAND_LINE_HIDDEN, NULL},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL},
};

/* --- names --- */

static const char *const names[VERB_COUNT] = {
    [VERB_RECORD] = "record", [VERB_REPORT] = "report", [VERB_TOP] = "top",
    [VERB_DIFF] = "diff",     [VERB_LS] = "ls",         [VERB_CACHE] = "cache",
    [VERB_BISECT] = "bisect",
};

const char *verb_name(enum verb verb)
{
    return names[verb];
}

enum verb verb_named(const char *name)
{
    enum verb verb = 0;

    while (verb < VERB_COUNT && strcmp(names[verb], name) != 0)
        verb++;
    return verb;
}

/* --- reading --- */

void verb_begin(struct command_line *line, enum verb verb, int count, char **arguments)
{
    command_line_begin(line, verb_options, 1u << verb, count, arguments);
    line->is_ended_by_word = RUNS & 1u << verb; /* a program, whose words are not ours */
}

bool verb_next(struct command_line *line, enum verb verb)
{
    bool has_one = command_line_next(line);

    if (has_one && line->fault)
        verb_refuse_option(verb, line->word);
    return has_one;
}

/* --- what is refused --- */

static enum verb first_of(unsigned verbs)
{
    enum verb verb = 0;

    while (!(verbs & 1u << verb))
        verb++;
    return verb;
}

/* That the verb does not have; to be freed. Of one that it has, the value is not as it should be.
 */
static char *find_fault(enum verb verb, const char *word)
{
    bool is_long = word[0] == '-' && word[1] == '-';
    const char *name = is_long ? word + 2 : word + 1, *near;
    size_t length = is_long ? strcspn(name, "=") : 1;
    const struct command_option *option =
        is_long ? command_line_named(verb_options, 1u << verb, name, length)
                : command_line_lettered(verb_options, 1u << verb, *name);

    if (option && !option->value)
        return memory_print("it takes no value");
    if (option)
        return memory_print("expected %s behind it, found nothing", option->value);
    if (is_long && (option = command_line_named(verb_options, ALL, name, length)))
        return memory_print("no such option; umbra %s has it", names[first_of(option->verbs)]);
    near = is_long ? command_line_nearest(verb_options, 1u << verb, name, length) : NULL;
    return near ? memory_print("no such option (did you mean --%s?)", near)
                : memory_copy_string("no such option");
}

_Noreturn void verb_refuse_option(enum verb verb, const char *word)
{
    say_and_exit(STATUS_USAGE, "%s: %s: %s; see umbra %s --help", names[verb], word,
                 find_fault(verb, word), names[verb]);
}

/* --- what comes before all --- */

static void note(struct asked_first *asked, int code)
{
    asked->help = asked->help || code == 'h';
    asked->version = asked->version || code == 'V';
    asked->verbose = asked->verbose || code == 'v';
    asked->no_config = asked->no_config || code == OPTION_NO_CONFIG;
}

/* The option that a word stands for alone; 0 if none has it. */
static int code_of(const char *word)
{
    const struct command_option *option = NULL;

    if (!strncmp(word, "--", 2))
        option = command_line_named(verb_options, ALL, word + 2, strlen(word + 2));
    else if (*word == '-' && word[1] && !word[2])
        option = command_line_lettered(verb_options, ALL, word[1]);
    return option ? option->code : 0;
}

/* The grinder has options that are not in the table. */
static struct asked_first asked_of_view(char **arguments)
{
    struct asked_first asked = {0};

    for (char **word = arguments + 1; *word && strcmp(*word, "--") != 0; word++)
        note(&asked, code_of(*word));
    return asked;
}

struct asked_first verb_asked_first(enum verb verb, int count, char **arguments)
{
    struct asked_first asked = {0};
    struct command_line line;

    if (VIEWS & 1u << verb)
        return asked_of_view(arguments);
    verb_begin(&line, verb, count, arguments);
    while (command_line_next(&line))
        if (!line.fault)
            note(&asked, line.option->code);
    return asked;
}
