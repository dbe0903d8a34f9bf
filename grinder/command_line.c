#include "grinder/command_line.h"

#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/image/debug_server.h"
#include "grinder/image/recorded_path.h"
#include "grinder/mode.h"
#include "support/memory.h"
#include "support/nearest.h"
#include "support/regular_file.h"
#include "trace/trace_format.h"

#define WRONG_USAGE 2

static const char help[] =
    "Usage: grinder --mode=MODE [OPTION…] TRACE…\n"
    "\n"
    "Writes profiles and reports from traces that call_trace_service recorded. A folder\n"
    "stands for the traces in it.\n"
    "\n"
    "  --mode=profile        a callgrind file, for kcachegrind and callgrind_annotate, or\n"
    "                        another format\n"
    "  --mode=summary        processes, threads, modules and the hottest functions, as text\n"
    "  --mode=report         a page for a web browser: the code, with calls and times beside\n"
    "                        it; docs/report.md\n"
    "  --mode=diff           what changed from one recording to another: two TRACEs, each a\n"
    "                        file or a folder\n"
    "  --mode=stack          how deep the stack of each thread was, and the calls on it at\n"
    "                        that moment, with their bytes; docs/stack.md\n"
    "  --mode=top            the hottest functions of running programs, refreshed in place;\n"
    "                        q ends, s and c sort by self time and by calls\n"
    "\n"
    "  --output-format=NAME  profile: callgrind (this is the default), folded, flamegraph,\n"
    "                        pprof, speedscope, tsv (functions), tsv-edges (calls), json,\n"
    "                        firefox;\n"
    "                        time lines, of a call-trace recording: chrome, perfetto,\n"
    "                        firefox (not with --merge, --split or --weight=calls)\n"
    "                        diff: table (the default on a terminal), tsv (the default\n"
    "                        elsewhere), folded, flamegraph\n"
    "                        stack: table, tsv, json (defaults as for diff)\n"
    "  --output-file=FILE    where to write, - for standard output (profile:\n"
    "                        callgrind.out.PID or profile.PID.SUFFIX, report:\n"
    "                        report.PID.html, else standard output); report: a FILE that\n"
    "                        ends with / is a folder, for large programs\n"
    "  --weight=WEIGHT       ns (this is the default) or calls: the figure that folded,\n"
    "                        flamegraph, speedscope and firefox show and that diff\n"
    "                        compares; calls if the recording has no times\n"
    "  --thread-parts        profile: one part per thread (this is the default)\n"
    "  --merge, --merged     profile: all threads of all traces in one part, which\n"
    "                        callgrind_annotate wants\n"
    "  --split               profile: one file per thread, FILE-01, FILE-02 …;\n"
    "                        report: a folder\n"
    "  --largest             summary, report: of several processes the one that took most,\n"
    "                        behind a list of all\n"
    "  --process=PATTERN     only processes of that pid, or whose executable, or the name it\n"
    "                        was run as, matches\n"
    "  --thread=PATTERN      only threads of that tid or ordinal, or whose name matches\n"
    "  --function=PATTERN    only functions whose name matches, and all they call\n"
    "                        (these three may be repeated: one of them has to match)\n"
    "  --from=SECONDS        time lines: begin there; 0 is the start of the recording\n"
    "  --to=SECONDS          time lines: end there\n"
    "  --threshold=PERCENT   diff: exit status 1 if the whole, or the self time (or\n"
    "                        calls) of a function, changed by more than PERCENT of the\n"
    "                        first recording\n"
    "  --top=N               summary, table of a diff, top without a terminal: show N\n"
    "                        functions (20; summary on a terminal: 12)\n"
    "  --sort=ORDER          summary: only the table of functions by self time, inclusive\n"
    "                        time, calls, time waited or a call's time: self, inclusive,\n"
    "                        calls, wait, p99\n"
    "  --no-pager            summary: on a terminal, write it there, however long it is\n"
    "  --interval=SECONDS    top: the time between refreshes (2)\n"
    "  --count=N             top: end after N refreshes\n"
    "  --once                top: print one table and end, as without a terminal\n"
    "  --feed=DESCRIPTOR     top: a socket that brings the traces of programs that come\n"
    "                        later, from call_trace_service top\n"
    "  --debug-dir=DIR       look for separate debug files here too; may be repeated\n"
    "  --no-debuginfod       ask no server for debug files, though DEBUGINFOD_URLS names some\n"
    "  --path-map=FROM=TO    files that traces name below FROM are below TO here;\n"
    "                        in FROM, == stands for one =; may be repeated\n"
    "  --jit-map=FILE        names of code made at run time: a perf map or a jitdump\n"
    "                        (default: /tmp/perf-PID.map, if written while the process ran);\n"
    "                        may be repeated\n"
    "  --times-from=TRACE    times from a recording of whole stacks, counts from these: of the\n"
    "                        same program, which did the same; merges all threads\n"
    "  --source-root=DIR     report: embed source files below DIR also if not everybody may\n"
    "                        read them; may be repeated\n"
    "  -v, --verbose         report: name the source files that it holds, and those left out\n"
    "  -q, --quiet           no progress on the terminal, nor how many source files a report\n"
    "                        holds\n"
    "  -h, --help            this text\n"
    "  -V, --version         the version\n"
    "\n"
    "Exit status: 0 all is well; 1 a trace could not be read, is cut off, has lost\n"
    "contexts or does not balance, nothing matches a PATTERN, or the output could not be\n"
    "written; 2 wrong usage. Of --mode=diff: 0 no change past the threshold; 1 there is\n"
    "one; 2 an error.\n";

enum {
    MODE = 1,
    OUTPUT,
    FORMAT,
    WEIGHT,
    MERGED,
    THREAD_PARTS,
    SPLIT,
    LARGEST,
    PROCESS,
    THREAD,
    FUNCTION,
    FROM,
    TO,
    THRESHOLD,
    INTERVAL,
    TIMES,
    ONCE,
    FEED,
    TOP,
    SORT,
    NO_PAGER,
    DEBUG_DIR,
    NO_DEBUGINFOD,
    PATH_MAP,
    JIT_MAP,
    SOURCE_ROOT,
    TIMES_FROM,
    VERBOSE,
    QUIET,
    HELP,
    VERSION,
};

static const struct poptOption table[] = {
    {"mode", 0, POPT_ARG_STRING, NULL, MODE, NULL, NULL},
    {"output-file", 0, POPT_ARG_STRING, NULL, OUTPUT, NULL, NULL},
    {"output-format", 0, POPT_ARG_STRING, NULL, FORMAT, NULL, NULL},
    {"weight", 0, POPT_ARG_STRING, NULL, WEIGHT, NULL, NULL},
    {"merge", 0, POPT_ARG_NONE, NULL, MERGED, NULL, NULL},
    {"merged", 0, POPT_ARG_NONE, NULL, MERGED, NULL, NULL},
    {"thread-parts", 0, POPT_ARG_NONE, NULL, THREAD_PARTS, NULL, NULL},
    {"split", 0, POPT_ARG_NONE, NULL, SPLIT, NULL, NULL},
    {"largest", 0, POPT_ARG_NONE, NULL, LARGEST, NULL, NULL},
    {"process", 0, POPT_ARG_STRING, NULL, PROCESS, NULL, NULL},
    {"thread", 0, POPT_ARG_STRING, NULL, THREAD, NULL, NULL},
    {"function", 0, POPT_ARG_STRING, NULL, FUNCTION, NULL, NULL},
    {"from", 0, POPT_ARG_STRING, NULL, FROM, NULL, NULL},
    {"to", 0, POPT_ARG_STRING, NULL, TO, NULL, NULL},
    {"threshold", 0, POPT_ARG_STRING, NULL, THRESHOLD, NULL, NULL},
    {"interval", 0, POPT_ARG_STRING, NULL, INTERVAL, NULL, NULL},
    {"count", 0, POPT_ARG_STRING, NULL, TIMES, NULL, NULL},
    {"once", 0, POPT_ARG_NONE, NULL, ONCE, NULL, NULL},
    {"feed", 0, POPT_ARG_STRING, NULL, FEED, NULL, NULL},
    {"top", 0, POPT_ARG_STRING, NULL, TOP, NULL, NULL},
    {"sort", 0, POPT_ARG_STRING, NULL, SORT, NULL, NULL},
    {"no-pager", 0, POPT_ARG_NONE, NULL, NO_PAGER, NULL, NULL},
    {"debug-dir", 0, POPT_ARG_STRING, NULL, DEBUG_DIR, NULL, NULL},
    {"no-debuginfod", 0, POPT_ARG_NONE, NULL, NO_DEBUGINFOD, NULL, NULL},
    {"path-map", 0, POPT_ARG_STRING, NULL, PATH_MAP, NULL, NULL},
    {"jit-map", 0, POPT_ARG_STRING, NULL, JIT_MAP, NULL, NULL},
    {"times-from", 0, POPT_ARG_STRING, NULL, TIMES_FROM, NULL, NULL},
    {"source-root", 0, POPT_ARG_STRING, NULL, SOURCE_ROOT, NULL, NULL},
    {"verbose", 'v', POPT_ARG_NONE, NULL, VERBOSE, NULL, NULL},
    {"quiet", 'q', POPT_ARG_NONE, NULL, QUIET, NULL, NULL},
    {"help", 'h', POPT_ARG_NONE, NULL, HELP, NULL, NULL},
    {"version", 'V', POPT_ARG_NONE, NULL, VERSION, NULL, NULL},
    POPT_TABLEEND,
};

static bool is_by_umbra(void)
{
    return strcmp(message_own_name(), "grinder") != 0;
}

__attribute__((format(printf, 1, 2), noreturn)) static void wrong_usage(const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    message("%s; see %s%sgrinder --help", text, is_by_umbra() ? message_own_name() : "",
            is_by_umbra() ? " --help and " : "");
    exit(WRONG_USAGE);
}

/* An option that there is not. --text is what umbra report has of its own. */
static _Noreturn void refuse_option(const char *word)
{
    struct nearest nearest = nearest_to(word + 2, strcspn(word + 2, "="));

    if (!strcmp(word, "-o"))
        wrong_usage("-o: unknown option (did you mean --output-file=FILE?)");
    for (const struct poptOption *option = table; option->longName; option++)
        nearest_offer(&nearest, option->longName);
    if (is_by_umbra())
        nearest_offer(&nearest, "text");
    if (!strncmp(word, "--", 2) && nearest.word)
        wrong_usage("%s: unknown option (did you mean --%s?)", word, nearest.word);
    wrong_usage("%s: unknown option", word);
}

static size_t number(const char *option, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (!*text || *end || value < 0 || value > 1000000)
        wrong_usage("%s: expected a number of 0 to 1000000, found %s", option, text);
    return (size_t)value;
}

static double percent(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (!*text || *end || !(value >= 0 && value <= 1e9))
        wrong_usage("--threshold: expected a percentage of 0 or more, found %s", text);
    return value;
}

static uint64_t ns_of_seconds(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (!*text || *end || !(value >= 0 && value <= 1e9))
        wrong_usage("%s: expected seconds, 0 or more, found %s", option, text);
    return (uint64_t)(value * 1e9 + 0.5);
}

static double seconds(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (!*text || *end || !(value >= 0.1 && value <= 3600))
        wrong_usage("--interval: expected seconds from 0.1 to 3600, found %s", text);
    return value;
}

static enum weight weight_named(const char *name)
{
    if (strcmp(name, "ns") != 0 && strcmp(name, "calls") != 0)
        wrong_usage("--weight: expected ns or calls, found %s", name);
    return !strcmp(name, "ns") ? WEIGHT_NS : WEIGHT_CALLS;
}

/* strings, which end with null, and one more; takes over text. */
static char **append(char **strings, char *text)
{
    size_t count = 0;
    char **longer;

    while (strings && strings[count])
        count++;
    longer = memory_zeroed(count + 2, sizeof(*longer));
    for (size_t i = 0; i < count; i++)
        longer[i] = strings[i];
    longer[count] = text;
    free(strings);
    return longer;
}

static void keep_string(char **value, const char *text)
{
    free(*value);
    *value = memory_copy_string(text);
}

static void add_pattern(struct options *options, struct patterns *patterns, const char *text)
{
    char *copy = memory_copy_string(text);

    options->patterns = append(options->patterns, copy);
    patterns_add(patterns, copy);
}

/* Options that choose what is shown; false if it is none of them. */
static bool apply_selection(struct options *options, int option, const char *argument)
{
    switch (option) {
    case PROCESS:
        add_pattern(options, &options->selection.processes, argument);
        return true;
    case THREAD:
        add_pattern(options, &options->selection.threads, argument);
        return true;
    case FUNCTION:
        add_pattern(options, &options->selection.functions, argument);
        return true;
    case FROM:
        options->from_ns = ns_of_seconds("--from", argument);
        return true;
    case TO:
        options->to_ns = ns_of_seconds("--to", argument);
        return true;
    case THRESHOLD:
        options->has_threshold = true;
        options->threshold = percent(argument);
        return true;
    case INTERVAL:
        options->interval = seconds(argument);
        return true;
    case TIMES:
        options->times = number("--count", argument);
        return true;
    case ONCE:
        options->once = true;
        return true;
    case FEED:
        options->feed = (int)number("--feed", argument);
        return true;
    case TOP:
        options->top = number("--top", argument);
        options->has_top = true;
        return true;
    case SORT:
        options->has_sort = true;
        if (!hot_order_named(argument, &options->sort))
            wrong_usage("--sort: expected self, inclusive, calls, wait or p99, found %s", argument);
        return true;
    case NO_PAGER:
        options->no_pager = true;
        return true;
    }
    return false;
}

static void apply(struct options *options, int option, const char *argument)
{
    char *map;

    switch (option) {
    case MODE:
        options->mode = mode_named(argument);
        if (!options->mode)
            wrong_usage("--mode: expected profile, summary, report, diff, stack or top, found %s",
                        argument);
        break;
    case OUTPUT:
        keep_string(&options->output, argument);
        break;
    case FORMAT:
        keep_string(&options->format, argument);
        break;
    case WEIGHT:
        options->weight = weight_named(argument);
        options->has_weight = true;
        break;
    case MERGED:
        options->merged = true;
        break;
    case THREAD_PARTS:
        options->merged = false;
        break;
    case SPLIT:
        options->split = true;
        break;
    case LARGEST:
        options->largest = true;
        break;
    case DEBUG_DIR:
        options->debug_dirs = append(options->debug_dirs, memory_copy_string(argument));
        break;
    case NO_DEBUGINFOD:
        debug_server_disable();
        break;
    case PATH_MAP:
        map = recorded_path_map(argument);
        if (!map)
            wrong_usage("--path-map: expected FROM=TO, found %s", argument);
        options->path_maps = append(options->path_maps, map);
        break;
    case JIT_MAP:
        options->jit_maps = append(options->jit_maps, memory_copy_string(argument));
        break;
    case SOURCE_ROOT:
        options->source_roots = append(options->source_roots, memory_copy_string(argument));
        break;
    case TIMES_FROM:
        free(options->times_from);
        options->times_from = memory_copy_string(argument);
        break;
    case VERBOSE:
        options->verbose = true;
        break;
    case QUIET:
        options->quiet = true;
        break;
    case HELP:
        fputs(help, stdout);
        exit(EXIT_SUCCESS);
    case VERSION:
        puts("grinder (umbra) " UMBRA_VERSION);
        exit(EXIT_SUCCESS);
    }
}

/* Names what the mode can write. */
static _Noreturn void refuse_format(const struct mode *mode, const char *name)
{
    char *names = memory_copy_string(mode->has_format("table") ? ", table" : "");

    for (const struct format *format = formats; format->name; format++) {
        char *before = names;
        if (!mode->has_format(format->name))
            continue;
        names = memory_print("%s, %s", before, format->name);
        free(before);
    }
    wrong_usage("--output-format: --mode=%s does not have %s, but %s", mode->name, name, names + 2);
}

static void check_format(const struct options *options)
{
    const char *name = options->format;
    const struct format *format = name ? format_named(name) : NULL;
    bool has_range = options->from_ns || options->to_ns != UINT64_MAX;
    bool is_by_part = options->merged || options->split;

    if (name && !options->mode->has_format)
        wrong_usage("--mode=%s has no --output-format", options->mode->name);
    if (name && !options->mode->has_format(name))
        refuse_format(options->mode, name);
    if (format && format->needs_events && is_by_part)
        wrong_usage("--output-format=%s is by thread, and one file: --merge and --split are not "
                    "for it",
                    name);
    if (has_range && !(format && format->write_times))
        wrong_usage("--from and --to are for --output-format=chrome, perfetto and firefox");
    if (has_range && (is_by_part || options->weight == WEIGHT_CALLS))
        wrong_usage("--from and --to are for time lines, which have no --merge, --split or "
                    "--weight=calls");
    if (options->from_ns > options->to_ns)
        wrong_usage("--from: expected a time before that of --to");
}

static void check_traces(const struct options *options)
{
    size_t count = 0;

    while (options->traces[count])
        count++;
    if (!count)
        wrong_usage("expected a trace file, found none");
    if (options->mode->sides > 1 && count != options->mode->sides)
        wrong_usage("--mode=%s: expected %zu recordings, found %zu", options->mode->name,
                    options->mode->sides, count);
}

/* A trace, which cannot be made again, is not overwritten by what is made of it. */
static void check_output(const char *path)
{
    char start[sizeof(TRACE_MAGIC) - 1];
    int file = path ? regular_file_open(path) : -1;
    bool is_trace = file >= 0 && read(file, start, sizeof(start)) == sizeof(start) &&
                    !memcmp(start, TRACE_MAGIC, sizeof(start));

    if (file >= 0)
        close(file);
    if (is_trace)
        wrong_usage("--output-file=%s: expected a file to write, found a trace; name another file",
                    path);
}

/* Where nothing can be looked up, nothing would be found. */
static void check_folders(const char *option, char *const *folders)
{
    struct stat status;

    for (; *folders; folders++)
        if (stat(*folders, &status) < 0 || !S_ISDIR(status.st_mode))
            wrong_usage("%s=%s: expected a folder, found %s", option, *folders,
                        access(*folders, F_OK) < 0 ? "none" : "a file");
}

/* Functions and edges have times of their own then; what needs contexts, threads or moments has
 * none. */
static void check_times(const struct options *options)
{
    const struct format *format = options->format ? format_named(options->format) : NULL;
    bool has_mode = !strcmp(options->mode->name, "profile") ||
                    !strcmp(options->mode->name, "summary") ||
                    !strcmp(options->mode->name, "report");

    if (!options->times_from)
        return;
    if (!has_mode)
        wrong_usage("--times-from is for --mode=profile, summary and report");
    if (format && (format->needs_stacks || format->needs_events))
        wrong_usage("--times-from: --output-format=%s needs times of calling contexts; expected "
                    "callgrind, tsv, tsv-edges or json",
                    format->name);
    if (options->selection.threads.count || options->selection.functions.count)
        wrong_usage("--times-from: --thread and --function are of this recording alone; leave them "
                    "out");
    if (options->split)
        wrong_usage("--times-from merges all threads: --split is not for it");
}

static bool names_folder(const char *path)
{
    size_t length = path ? strlen(path) : 0;

    return length && path[length - 1] == '/';
}

static void check(const struct options *options)
{
    if (!options->mode)
        wrong_usage(
            "expected --mode=profile, summary, report, diff, stack or top, found no --mode");
    check_traces(options);
    check_format(options);
    check_times(options);
    check_output(options->output);
    check_folders("--debug-dir", options->debug_dirs);
    if (options->split && options->merged)
        wrong_usage("--split and --merged exclude each other");
    if (options->split && options->mode->merges)
        wrong_usage("--mode=%s has no --split", options->mode->name);
    if (options->split && options->output && !strcmp(options->output, "-"))
        wrong_usage("--split needs a file name, found --output-file=-");
    if (options->split && options->mode->has_format && names_folder(options->output))
        wrong_usage("--output-file=%s: expected a file's name, which each thread's begins with "
                    "(NAME-01, NAME-02 …), found a folder's",
                    options->output);
    if (*options->source_roots && strcmp(options->mode->name, "report") != 0)
        wrong_usage("--source-root is for --mode=report");
    if (options->has_sort && strcmp(options->mode->name, "summary") != 0)
        wrong_usage("--sort is for the summary: %s",
                    is_by_umbra() ? "umbra report --text" : "--mode=summary");
    if (options->no_pager && strcmp(options->mode->name, "summary") != 0)
        wrong_usage("--no-pager is for the summary: %s",
                    is_by_umbra() ? "umbra report --text" : "--mode=summary");
    if (options->has_threshold && options->mode->sides == 1)
        wrong_usage("--threshold is for --mode=diff");
}

void options_read(struct options *options, int argc, const char **argv)
{
    /* Static: still held, and no leak, where wrong usage ends the program. */
    static poptContext context;
    const char **traces;
    int option;

    context = poptGetContext("grinder", argc, argv, table, 0);
    *options = (struct options){.top = 20, .interval = 2, .feed = -1, .to_ns = UINT64_MAX};
    options->debug_dirs = memory_zeroed(1, sizeof(*options->debug_dirs));
    options->path_maps = memory_zeroed(1, sizeof(*options->path_maps));
    options->jit_maps = memory_zeroed(1, sizeof(*options->jit_maps));
    options->source_roots = memory_zeroed(1, sizeof(*options->source_roots));
    options->patterns = memory_zeroed(1, sizeof(*options->patterns));
    options->traces = memory_zeroed(1, sizeof(*options->traces));
    while ((option = poptGetNextOpt(context)) > 0) {
        char *argument = poptGetOptArg(context);
        if (!apply_selection(options, option, argument))
            apply(options, option, argument);
        free(argument);
    }
    if (option == POPT_ERROR_BADOPT)
        refuse_option(poptBadOption(context, POPT_BADOPTION_NOALIAS));
    if (option < -1)
        wrong_usage("%s: %s", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    for (traces = poptGetArgs(context); traces && *traces; traces++)
        options->traces = append(options->traces, memory_copy_string(*traces));
    poptFreeContext(context);
    check(options);
}

static void free_strings(char **strings)
{
    for (size_t i = 0; strings[i]; i++)
        free(strings[i]);
    free(strings);
}

void options_free(struct options *options)
{
    free_strings(options->debug_dirs);
    free_strings(options->path_maps);
    free_strings(options->jit_maps);
    free(options->times_from);
    free_strings(options->source_roots);
    free_strings(options->patterns);
    free_strings(options->traces);
    selection_free(&options->selection);
    free(options->output);
    free(options->format);
}
