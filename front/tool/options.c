#include "front/tool/options.h"

#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "support/memory.h"
#include "support/nearest.h"

#define OF(verb) (1u << VERB_##verb)
#define RUNS     (OF(RECORD) | OF(BISECT))
#define VIEWS    (OF(REPORT) | OF(TOP) | OF(DIFF))
#define ALL      ((1u << VERB_COUNT) - 1)

#define FORMATS                                                                                    \
    "callgrind folded flamegraph pprof speedscope tsv tsv-edges json chrome perfetto firefox"

const struct verb_option verb_options[] = {
    {"check", 0, "COMMAND", NULL, OF(BISECT), OPTION_CHECK, false,
     "it fails if this shell command, run after it, does"},
    {"output", 'o', "FOLDER", NULL, OF(RECORD), 'o', false, "the recording (umbra.data)"},
    {"children", 0, "no", "yes no", RUNS, OPTION_CHILDREN, false,
     "only the program itself, not what it runs"},
    {"in-place", 0, "no", "yes no", RUNS, OPTION_IN_PLACE, false,
     "use no namespaces: run files beside their originals"},
    {"include", 0, "PATTERN", NULL, RUNS, OPTION_INSTRUMENT, false, "hook functions that match"},
    {"exclude", 0, "PATTERN", NULL, RUNS, OPTION_INSTRUMENT, false,
     "leave functions that match alone"},
    {"filter", 0, "FILE", NULL, RUNS, OPTION_INSTRUMENT, false, "read patterns from a file"},
    {"time", 0, "PATTERN", NULL, RUNS, OPTION_INSTRUMENT, false,
     "time each call of functions that match: p50 to p99.9"},
    {"leave", 0, "PATTERN", NULL, RUNS, OPTION_LEAVE, false,
     "leave files that match; with ! in front: do not"},
    {"instrument-imports", 0, NULL, NULL, RUNS, OPTION_INSTRUMENT, false,
     "also hook calls to functions of other images"},
    {"how", 0, "WAY", "auto prologue copy samples", RUNS, OPTION_HOW, false,
     "auto (default) copies bodies where certain; samples"},
    {"pid", 'p', "PID", NULL, OF(RECORD), 'p', false,
     "sample a process that runs, until it ends or ^C"},
    {"twice", 0, NULL, NULL, OF(RECORD), OPTION_TWICE, false,
     "run it again as it is: exact calls, native times"},
    {"mode", 0, "MODE", "profile calltrace", RUNS, OPTION_SERVICE, false,
     "profile (default), calltrace: each call with times"},
    {"timing", 0, "WAY", "samples adaptive exact none", RUNS, OPTION_SERVICE, false,
     "samples (default); of calls: adaptive, exact; none"},
    {"samples", 0, "HZ", NULL, RUNS, OPTION_SERVICE, false,
     "a second of processor time (1000); perf, timer, no"},
    {"slices", 0, "N", NULL, RUNS, OPTION_SERVICE, false,
     "time slices for the page (200); 0: none"},
    {"node-limit", 0, "N", NULL, RUNS, OPTION_SERVICE, false,
     "calling contexts that a thread may have (1048576)"},
    {"max-trace-size", 0, "BYTES", NULL, RUNS, OPTION_SERVICE, false,
     "what a trace may grow to (1G); K, M, G may follow"},
    {"ring-size", 0, "BYTES", NULL, RUNS, OPTION_SERVICE, false,
     "calltrace: memory for events not yet written (64M)"},
    {"max-events-size", 0, "BYTES", NULL, RUNS, OPTION_SERVICE, false,
     "calltrace: events on disk; past it, it stops"},
    {"keep-newest", 0, NULL, NULL, RUNS, OPTION_SERVICE, false,
     "calltrace: past it, the oldest events go instead"},
    {"paused", 0, NULL, NULL, RUNS, OPTION_SERVICE, false,
     "record nothing before call_trace_service resume"},

    {"text", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, false,
     "print the summary instead of writing the page"},
    {"output-format", 0, "NAME", FORMATS, OF(REPORT), OPTION_VIEW, false,
     "a profile: callgrind, flamegraph, pprof and others"},
    {"output-format", 0, "NAME", "table tsv folded flamegraph", OF(DIFF), OPTION_VIEW, false,
     "table, tsv, folded or flamegraph"},
    {"output-file", 'o', "FILE", NULL, OF(REPORT) | OF(DIFF), OPTION_VIEW, false,
     "where to write, - for standard output"},

    {"left", 0, NULL, NULL, OF(LS), OPTION_LEFT, false, "what a recording left as it was, and why"},
    {"json", 0, NULL, NULL, OF(LS), OPTION_JSON, false, "print an array of objects, for programs"},

    {"clear", 0, NULL, NULL, OF(CACHE), OPTION_CLEAR, false,
     "remove what is in it; recordings keep what they need"},
    {"limit", 0, "SIZE", NULL, OF(CACHE), OPTION_LIMIT, false,
     "let it grow to that size (4G); K, M, G, T may follow"},

    {"quiet", 'q', NULL, NULL, RUNS | VIEWS, 'q', false, "no progress, and no word at the end"},
    {"verbose", 'v', NULL, NULL, ALL, 'v', false, "show the commands that are run"},
    {"no-config", 0, NULL, NULL, ALL, OPTION_NO_CONFIG, false,
     "without the options in ~/.config/umbra/config"},
    {"help", 'h', NULL, NULL, ALL, 'h', false, "this page"},
    {"version", 'V', NULL, NULL, ALL, 'V', false, "the version"},

    {"mode", 0, "MODE", "report profile summary stack", OF(REPORT), OPTION_VIEW, true,
     "report (default), profile, summary or stack"},
    {"process", 0, "PATTERN", NULL, VIEWS, OPTION_VIEW, true, "only processes of that pid or name"},
    {"thread", 0, "PATTERN", NULL, VIEWS, OPTION_VIEW, true, "only threads of that tid or name"},
    {"function", 0, "PATTERN", NULL, VIEWS, OPTION_VIEW, true,
     "only functions that match, and all they call"},
    {"merge", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, true, "all threads of all processes as one"},
    {"split", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, true,
     "a page in several files; a profile for each thread"},
    {"weight", 0, "WEIGHT", "ns calls", OF(REPORT) | OF(DIFF), OPTION_VIEW, true,
     "what flamegraph and others show: ns or calls"},
    {"from", 0, "SECONDS", NULL, OF(REPORT), OPTION_VIEW, true,
     "time lines (chrome, perfetto): begin there"},
    {"to", 0, "SECONDS", NULL, OF(REPORT), OPTION_VIEW, true, "time lines: end there"},
    {"threshold", 0, "PERCENT", NULL, OF(DIFF), OPTION_VIEW, true,
     "exit status 1 if something changed by more than that"},
    {"top", 0, "N", NULL, VIEWS, OPTION_VIEW, true, "so many functions in a table (20)"},
    {"sort", 0, "ORDER", "self inclusive calls wait p99", OF(REPORT), OPTION_VIEW, true,
     "with --text: the one table, by that"},
    {"no-pager", 0, NULL, NULL, OF(REPORT), OPTION_VIEW, true,
     "with --text: no pager on a terminal"},
    {"interval", 0, "SECONDS", NULL, OF(TOP), OPTION_VIEW, true, "the time between refreshes (2)"},
    {"count", 0, "N", NULL, OF(TOP), OPTION_VIEW, true, "end after N refreshes"},
    {"once", 0, NULL, NULL, OF(TOP), OPTION_VIEW, true,
     "print one table and end, as without a terminal"},
    {"path-map", 0, "FROM=TO", NULL, VIEWS, OPTION_VIEW, true,
     "files named below FROM are below TO here"},
    {"debug-dir", 0, "FOLDER", NULL, VIEWS, OPTION_VIEW, true,
     "look for separate debug files here, too"},
    {"no-debuginfod", 0, NULL, NULL, VIEWS, OPTION_VIEW, true, "ask no server for debug files"},
    {"jit-map", 0, "FILE", NULL, VIEWS, OPTION_VIEW, true,
     "names of code made at run time: a perf map, a jitdump"},
    {"times-from", 0, "FOLDER", NULL, OF(REPORT), OPTION_VIEW, true,
     "times of a recording by --how=samples, counts of this"},
    {"source-root", 0, "FOLDER", NULL, OF(REPORT), OPTION_VIEW, true,
     "embed sources there though not all may read them"},
    {NULL, 0, NULL, NULL, 0, 0, false, NULL},
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

/* --- for getopt --- */

static bool has(enum verb verb, const struct verb_option *option)
{
    return option->verbs & 1u << verb;
}

struct option *verb_getopt_table(enum verb verb)
{
    struct option *table =
        memory_zeroed(sizeof(verb_options) / sizeof(*verb_options), sizeof(*table));
    size_t count = 0;

    for (const struct verb_option *option = verb_options; option->name; option++)
        if (has(verb, option))
            table[count++] =
                (struct option){option->name, option->argument ? required_argument : no_argument,
                                NULL, option->letter ? option->letter : option->code};
    return table;
}

/* What perf record has under these letters; record.c says which of them Umbra understands. */
#define LETTERS_OF_PERF "gF:ae:"

char *verb_getopt_letters(enum verb verb)
{
    bool has_program = RUNS & 1u << verb; /* whose words are not ours */
    char *letters = memory_copy_string(has_program ? "+" : "");

    for (const struct verb_option *option = verb_options; option->name; option++) {
        char *before = letters;
        if (!option->letter || !has(verb, option))
            continue;
        letters = memory_print("%s%c%s", before, option->letter, option->argument ? ":" : "");
        free(before);
    }
    if (verb == VERB_RECORD) {
        char *before = letters;
        letters = memory_print("%s" LETTERS_OF_PERF, before);
        free(before);
    }
    return letters;
}

/* --- what getopt refuses --- */

/* The first of that name, of a verb or of any of these; null if there is none. */
static const struct verb_option *find_named(unsigned verbs, const char *name, size_t length)
{
    for (const struct verb_option *option = verb_options; option->name; option++)
        if (option->verbs & verbs && strlen(option->name) == length &&
            !strncmp(option->name, name, length))
            return option;
    return NULL;
}

static const struct verb_option *find_letter(enum verb verb, char letter)
{
    for (const struct verb_option *option = verb_options; option->name; option++)
        if (has(verb, option) && option->letter == letter)
            return option;
    return NULL;
}

static const char *find_nearest(enum verb verb, const char *name, size_t length)
{
    struct nearest nearest = nearest_to(name, length);

    for (const struct verb_option *option = verb_options; option->name; option++)
        if (has(verb, option))
            nearest_offer(&nearest, option->name);
    return nearest.word;
}

static enum verb first_of(unsigned verbs)
{
    enum verb verb = 0;

    while (!(verbs & 1u << verb))
        verb++;
    return verb;
}

/* Where a word has several letters, getopt may have gone on to the next word already, or not. */
static bool is_of_letter(enum verb verb, const char *word)
{
    const struct verb_option *option = NULL;

    if (optopt < ' ')
        return false;
    if (!strncmp(word, "--", 2))
        option = find_named(1u << verb, word + 2, strcspn(word + 2, "="));
    return !option || option->letter != optopt;
}

char *verb_refused_word(enum verb verb, char *const *arguments)
{
    const char *word = arguments[optind - 1];

    return is_of_letter(verb, word) ? memory_print("-%c", optopt) : memory_copy_string(word);
}

/* That the verb does not have; to be freed. Of one that it has, the value is not as it should be.
 */
static char *find_fault(enum verb verb, const char *word)
{
    bool is_long = word[0] == '-' && word[1] == '-';
    const char *name = is_long ? word + 2 : word + 1, *near;
    size_t length = is_long ? strcspn(name, "=") : 1;
    const struct verb_option *option =
        is_long ? find_named(1u << verb, name, length) : find_letter(verb, *name);

    if (option && !option->argument)
        return memory_print("it takes no value");
    if (option)
        return memory_print("expected %s behind it, found nothing", option->argument);
    if (is_long && (option = find_named(ALL, name, length)))
        return memory_print("no such option; umbra %s has it", names[first_of(option->verbs)]);
    near = is_long ? find_nearest(verb, name, length) : NULL;
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
    for (const struct verb_option *option = verb_options; option->name; option++)
        if ((!strncmp(word, "--", 2) && !strcmp(word + 2, option->name)) ||
            (*word == '-' && option->letter && word[1] == option->letter && !word[2]))
            return option->code;
    return 0;
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
    struct option *table;
    char *letters;
    int code;

    if (VIEWS & 1u << verb)
        return asked_of_view(arguments);
    table = verb_getopt_table(verb);
    letters = verb_getopt_letters(verb);
    opterr = 0;
    optind = 0;
    while ((code = getopt_long(count, arguments, letters, table, NULL)) >= 0)
        note(&asked, code);
    optind = 0; /* the verb reads them anew */
    free(table);
    free(letters);
    return asked;
}
