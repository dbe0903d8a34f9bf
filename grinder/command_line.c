#include "grinder/command_line.h"

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
#include "support/command_line.h"
#include "support/memory.h"
#include "support/nearest.h"
#include "support/regular_file.h"
#include "trace/trace_format.h"

#define WRONG_USAGE 2

/* Modes are the verbs of the table: a bit for each. */
enum {
    PROFILE = 1 << 0,
    SUMMARY = 1 << 1,
    REPORT = 1 << 2,
    DIFF = 1 << 3,
    STACK = 1 << 4,
    TOP = 1 << 5,
    COVERAGE = 1 << 6,
};

#define ALL COMMAND_LINE_ALL

static const struct {
    const char *name;
    unsigned bit;
} mode_bits[] = {
    {"profile", PROFILE}, {"summary", SUMMARY}, {"report", REPORT},     {"diff", DIFF},
    {"stack", STACK},     {"top", TOP},         {"coverage", COVERAGE},
};

enum {
    CODE_MODE = 1,
    CODE_OUTPUT,
    CODE_FORMAT,
    CODE_WEIGHT,
    CODE_MERGED,
    CODE_THREAD_PARTS,
    CODE_SPLIT,
    CODE_LARGEST,
    CODE_PROCESS,
    CODE_THREAD,
    CODE_FUNCTION,
    CODE_FROM,
    CODE_TO,
    CODE_THRESHOLD,
    CODE_AGAIN,
    CODE_INTERVAL,
    CODE_TIMES,
    CODE_ONCE,
    CODE_FEED,
    CODE_TOP,
    CODE_SORT,
    CODE_NO_PAGER,
    CODE_DEBUG_DIR,
    CODE_NO_DEBUGINFOD,
    CODE_PATH_MAP,
    CODE_JIT_MAP,
    CODE_SOURCE_ROOT,
    CODE_TIMES_FROM,
    CODE_VERBOSE,
    CODE_QUIET,
    CODE_HELP,
    CODE_VERSION,
    CODE_PRINT_OPTIONS,
};

/* All are read with any mode, and check() refuses what is not for it; shells complete those of the
   mode that stands in front. */
static const struct command_option table[] = {
    {"mode", 0, "MODE", "profile summary report diff stack coverage top", ALL, CODE_MODE, 0,
     "profile: a callgrind file, for kcachegrind and callgrind_annotate, or another format\n"
     "summary: processes, threads, modules and the hottest functions, as text\n"
     "report: a page for a web browser: the code, with calls and times beside it; docs/report.md\n"
     "diff: what changed from one recording to another: two TRACEs, each a file, a folder or a baseline\n"
     "stack: how deep the stack of each thread was, and the calls on it at that moment, with "
     "their bytes; docs/stack.md\n"
     "coverage: which blocks, functions and lines ran, and how often, of programs that were instrumented with "
     "--count=blocks; docs/coverage.md\n"
     "top: the hottest functions of running programs, refreshed in place; q ends, s, c and i sort "
     "by self time, calls and instructions"},
    {"output-format", 0, "NAME",
     "callgrind folded flamegraph pprof speedscope tsv tsv-edges json baseline chrome perfetto firefox",
     PROFILE, CODE_FORMAT, 0,
     "profile: callgrind (this is the default), folded, flamegraph, pprof, speedscope, tsv "
     "(functions), tsv-edges (calls), json, firefox, baseline (what a diff takes in place of a "
     "recording; docs/gate.md);\n"
     "time lines, of a call-trace recording: chrome, perfetto, firefox (not with --merge, --split "
     "or --weight=calls|instructions)"},
    {"output-format", 0, "NAME", "table tsv folded flamegraph", DIFF, CODE_FORMAT, 0,
     "diff: table (the default on a terminal), tsv (the default elsewhere), folded, flamegraph"},
    {"output-format", 0, "NAME", "table tsv json", STACK, CODE_FORMAT, 0,
     "stack: table, tsv, json (defaults as for diff)"},
    {"output-format", 0, "NAME", "table tsv lcov cobertura gcovr drcov", COVERAGE, CODE_FORMAT, 0,
     "coverage: table (this is the default), tsv (functions), lcov, cobertura, gcovr, drcov, callgrind"},
    {"output-file", 0, "FILE", NULL, ALL & ~TOP, CODE_OUTPUT, 0,
     "where to write, - for standard output (profile: callgrind.out.PID or profile.PID.SUFFIX, "
     "report: report.PID.html, else standard output); report: a FILE that ends with / is a "
     "folder, for large programs"},
    {"weight", 0, "WEIGHT", "ns calls instructions", PROFILE | DIFF | TOP, CODE_WEIGHT, 0,
     "ns (this is the default), calls or instructions: the figure that folded, flamegraph, "
     "speedscope and firefox show, that diff compares and that top sorts by; calls if the "
     "recording has no times; instructions only if they were counted"},
    {"thread-parts", 0, NULL, NULL, PROFILE, CODE_THREAD_PARTS, 0,
     "profile: one part per thread (this is the default)"},
    {"merge", 0, NULL, NULL, PROFILE, CODE_MERGED, 0,
     "profile: all threads of all traces in one part, which callgrind_annotate wants"},
    {"merged", 0, NULL, NULL, PROFILE, CODE_MERGED, 0, "the same as --merge"},
    {"split", 0, NULL, NULL, PROFILE | REPORT, CODE_SPLIT, 0,
     "profile: one file per thread, FILE-01, FILE-02 …; report: a folder"},
    {"largest", 0, NULL, NULL, SUMMARY | REPORT, CODE_LARGEST, 0,
     "summary, report: of several processes the one that took most, behind a list of all"},
    {"process", 0, "PATTERN", NULL, ALL & ~COVERAGE, CODE_PROCESS, 0,
     "only processes of that pid, or whose executable, or the name it was run as, matches"},
    {"thread", 0, "PATTERN", NULL, ALL & ~COVERAGE, CODE_THREAD, 0,
     "only threads of that tid or ordinal, or whose name matches"},
    {"function", 0, "PATTERN", NULL, ALL & ~COVERAGE, CODE_FUNCTION, 0,
     "only functions whose name matches, and all they call (these three may be repeated: one of "
     "them has to match)"},
    {"from", 0, "SECONDS", NULL, PROFILE, CODE_FROM, 0,
     "time lines: begin there; 0 is the start of the recording"},
    {"to", 0, "SECONDS", NULL, PROFILE, CODE_TO, 0, "time lines: end there"},
    {"threshold", 0, "PERCENT", NULL, DIFF, CODE_THRESHOLD, 0,
     "diff: exit status 1 if the whole, or the self time (or calls, or instructions) of a function, "
     "changed by more than PERCENT of the first recording"},
    {"again", 0, "TRACE", NULL, DIFF, CODE_AGAIN, 0,
     "diff: a second recording of the first build: functions whose calls or instructions are not the same in both are "
     "not judged"},
    {"top", 0, "N", "0..1000000", SUMMARY | DIFF | COVERAGE | TOP, CODE_TOP, 0,
     "summary, table of a diff or of coverage, top without a terminal: show N functions (20; summary on a "
     "terminal: 12)"},
    {"sort", 0, "ORDER", "self inclusive calls wait p99 instructions", SUMMARY, CODE_SORT, 0,
     "summary: only the table of functions by self time, inclusive time, calls, time waited, a "
     "call's time or instructions: self, inclusive, calls, wait, p99, instructions"},
    {"no-pager", 0, NULL, NULL, SUMMARY, CODE_NO_PAGER, 0,
     "summary: on a terminal, write it there, however long it is"},
    {"interval", 0, "SECONDS", "0.1..3600", TOP, CODE_INTERVAL, 0,
     "top: the time between refreshes (2)"},
    {"count", 0, "N", "0..1000000", TOP, CODE_TIMES, 0, "top: end after N refreshes"},
    {"once", 0, NULL, NULL, TOP, CODE_ONCE, 0,
     "top: print one table and end, as without a terminal"},
    {"feed", 0, "DESCRIPTOR", "0..1000000", TOP, CODE_FEED, 0,
     "top: a socket that brings the traces of programs that come later, from call_trace_service "
     "top"},
    {"debug-dir", 0, "FOLDER", NULL, ALL, CODE_DEBUG_DIR, 0,
     "look for separate debug files here too; may be repeated"},
    {"no-debuginfod", 0, NULL, NULL, ALL, CODE_NO_DEBUGINFOD, 0,
     "ask no server for debug files, though DEBUGINFOD_URLS names some"},
    {"path-map", 0, "FROM=TO", NULL, ALL, CODE_PATH_MAP, 0,
     "files that traces name below FROM are below TO here; in FROM, == stands for one =; may be "
     "repeated"},
    {"jit-map", 0, "FILE", NULL, ALL & ~COVERAGE, CODE_JIT_MAP, 0,
     "names of code made at run time: a perf map or a jitdump (default: /tmp/perf-PID.map, if "
     "written while the process ran); may be repeated"},
    {"times-from", 0, "TRACE", NULL, PROFILE | SUMMARY | REPORT, CODE_TIMES_FROM, 0,
     "times from a recording of whole stacks, counts from these: of the same program, which did "
     "the same; merges all threads"},
    {"source-root", 0, "FOLDER", NULL, REPORT, CODE_SOURCE_ROOT, 0,
     "report: embed source files below FOLDER also if not everybody may read them; may be "
     "repeated"},
    {"verbose", 'v', NULL, NULL, ALL, CODE_VERBOSE, 0,
     "report: name the source files that it holds, and those left out"},
    {"quiet", 'q', NULL, NULL, ALL, CODE_QUIET, 0,
     "no progress on the terminal, nor how many source files a report holds"},
    {"help", 'h', NULL, NULL, ALL, CODE_HELP, 0, "this text"},
    {"version", 'V', NULL, NULL, ALL, CODE_VERSION, 0, "the version"},
    {"print-options", 0, NULL, NULL, ALL, CODE_PRINT_OPTIONS, COMMAND_LINE_HIDDEN, NULL},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL},
};

static void show_help(void)
{
    fputs("Usage: grinder --mode=MODE [OPTION…] TRACE…\n"
          "\n"
          "Writes profiles and reports from traces that call_trace_service recorded. A\n"
          "folder stands for the traces in it.\n"
          "\n",
          stdout);
    command_line_print_help(table, ALL, 0, 24);
    fputs("\n"
          "Exit status: 0 all is well; 1 a trace could not be read, is cut off, has lost\n"
          "contexts or does not balance, nothing matches a PATTERN, or the output could not\n"
          "be written; 2 wrong usage. Of --mode=diff: 0 no change past the threshold; 1\n"
          "there is one; 2 an error.\n",
          stdout);
}

static unsigned bit_of(const struct mode *mode)
{
    for (size_t i = 0; i < sizeof(mode_bits) / sizeof(*mode_bits); i++)
        if (!strcmp(mode->name, mode_bits[i].name))
            return mode_bits[i].bit;
    return 0;
}

/* Of the mode that was given, or of all. */
static void print_options(const struct options *options)
{
    command_line_print_options(table, options->mode ? bit_of(options->mode) : ALL);
}

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

/* --text is what umbra report has of its own. */
static _Noreturn void refuse_option(const struct command_line *line)
{
    struct nearest nearest = nearest_to(line->word + 2, strcspn(line->word + 2, "="));
    struct failure failure;

    if (!strcmp(line->word, "-o"))
        wrong_usage("-o: unknown option (did you mean --output-file=FILE?)");
    if (is_by_umbra() && line->fault == COMMAND_LINE_UNKNOWN && !strncmp(line->word, "--", 2)) {
        nearest_offer(&nearest, "text");
        if (nearest.word)
            wrong_usage("%s: unknown option (did you mean --text?)", line->word);
    }
    command_line_check(line, &failure);
    wrong_usage("%s", failure.text);
}

static double percent(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end > text && *end == '%')
        end++;
    if (end == text || *end || !(value >= 0 && value <= 1e9))
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

static _Noreturn void refuse_value(const struct command_option *option, const char *argument)
{
    char list[128];

    wrong_usage("--%s: expected %s, found %s", option->name,
                command_line_list_values(option, list, sizeof(list)), argument);
}

/* The place of the argument among those that it may be. */
static int place_of_value(const struct command_option *option, const char *argument)
{
    int place = command_line_find_value(option, argument);

    if (place < 0)
        refuse_value(option, argument);
    return place;
}

static double number(const struct command_option *option, const char *argument)
{
    double value;

    if (!command_line_number(option, argument, &value))
        refuse_value(option, argument);
    return value;
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
static bool apply_selection(struct options *options, const struct command_option *option,
                            const char *argument)
{
    switch (option->code) {
    case CODE_PROCESS:
        add_pattern(options, &options->selection.processes, argument);
        return true;
    case CODE_THREAD:
        add_pattern(options, &options->selection.threads, argument);
        return true;
    case CODE_FUNCTION:
        add_pattern(options, &options->selection.functions, argument);
        return true;
    case CODE_FROM:
        options->from_ns = ns_of_seconds("--from", argument);
        return true;
    case CODE_TO:
        options->to_ns = ns_of_seconds("--to", argument);
        return true;
    case CODE_THRESHOLD:
        options->has_threshold = true;
        options->threshold = percent(argument);
        return true;
    case CODE_INTERVAL:
        options->interval = number(option, argument);
        return true;
    case CODE_TIMES:
        options->times = (size_t)number(option, argument);
        return true;
    case CODE_ONCE:
        options->once = true;
        return true;
    case CODE_FEED:
        options->feed = (int)number(option, argument);
        return true;
    case CODE_TOP:
        options->top = (size_t)number(option, argument);
        options->has_top = true;
        return true;
    case CODE_SORT:
        options->has_sort = true;
        place_of_value(option, argument);
        hot_order_named(argument, &options->sort);
        return true;
    case CODE_NO_PAGER:
        options->no_pager = true;
        return true;
    }
    return false;
}

static void apply(struct options *options, const struct command_option *option,
                  const char *argument)
{
    char *map;

    switch (option->code) {
    case CODE_MODE:
        place_of_value(option, argument);
        options->mode = mode_named(argument);
        break;
    case CODE_OUTPUT:
        keep_string(&options->output, argument);
        break;
    case CODE_FORMAT:
        keep_string(&options->format, argument);
        break;
    case CODE_WEIGHT:
        options->weight = (enum weight)place_of_value(option, argument);
        options->has_weight = true;
        break;
    case CODE_MERGED:
        options->merged = true;
        break;
    case CODE_THREAD_PARTS:
        options->merged = false;
        break;
    case CODE_SPLIT:
        options->split = true;
        break;
    case CODE_LARGEST:
        options->largest = true;
        break;
    case CODE_DEBUG_DIR:
        options->debug_dirs = append(options->debug_dirs, memory_copy_string(argument));
        break;
    case CODE_NO_DEBUGINFOD:
        debug_server_disable();
        break;
    case CODE_PATH_MAP:
        map = recorded_path_map(argument);
        if (!map)
            wrong_usage("--path-map: expected FROM=TO, found %s", argument);
        options->path_maps = append(options->path_maps, map);
        break;
    case CODE_JIT_MAP:
        options->jit_maps = append(options->jit_maps, memory_copy_string(argument));
        break;
    case CODE_SOURCE_ROOT:
        options->source_roots = append(options->source_roots, memory_copy_string(argument));
        break;
    case CODE_AGAIN:
        keep_string(&options->again, argument);
        break;
    case CODE_TIMES_FROM:
        free(options->times_from);
        options->times_from = memory_copy_string(argument);
        break;
    case CODE_VERBOSE:
        options->verbose = true;
        break;
    case CODE_QUIET:
        options->quiet = true;
        break;
    case CODE_HELP:
        show_help();
        exit(EXIT_SUCCESS);
    case CODE_VERSION:
        puts("grinder (umbra) " UMBRA_VERSION);
        exit(EXIT_SUCCESS);
    }
}

/* Names what the mode can write. */
static _Noreturn void refuse_format(const struct mode *mode, const char *name)
{
    const char option[] = "output-format";
    const char *values =
        command_line_named(table, bit_of(mode), option, sizeof(option) - 1)->values;
    char names[256];
    size_t length = 0;

    for (; *values && length + sizeof(", ") < sizeof(names); values++) {
        if (*values == ' ')
            names[length++] = ',';
        names[length++] = *values;
    }
    names[length] = 0;
    wrong_usage("--output-format: --mode=%s does not have %s, but %s", mode->name, name, names);
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
    if (has_range && (is_by_part || options->weight != WEIGHT_NS))
        wrong_usage("--from and --to are for time lines, which have no --merge, --split or "
                    "--weight=calls or instructions");
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
    char list[128];

    if (!options->mode)
        wrong_usage("expected --mode=%s, found no --mode",
                    command_line_list_values(table, list, sizeof(list))); /* its first row */
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
    if (options->patterns[0] && !strcmp(options->mode->name, "coverage"))
        wrong_usage("--mode=coverage has no --process, --thread or --function");
    if (*options->jit_maps && !strcmp(options->mode->name, "coverage"))
        wrong_usage("--mode=coverage has no --jit-map: only files have blocks");
    if (options->weight == WEIGHT_INSTRUCTIONS && strcmp(options->mode->name, "profile") != 0 &&
        strcmp(options->mode->name, "diff") != 0 && strcmp(options->mode->name, "top") != 0)
        wrong_usage("--weight=instructions is for --mode=profile, diff and top");
    if (options->has_threshold && options->mode->sides == 1)
        wrong_usage("--threshold is for --mode=diff");
    if (options->again && options->mode->sides == 1)
        wrong_usage("--again is for --mode=diff");
}

void options_read(struct options *options, int argc, char **argv)
{
    struct command_line line;
    bool prints_options = false;

    *options = (struct options){.top = 20, .interval = 2, .feed = -1, .to_ns = UINT64_MAX};
    options->debug_dirs = memory_zeroed(1, sizeof(*options->debug_dirs));
    options->path_maps = memory_zeroed(1, sizeof(*options->path_maps));
    options->jit_maps = memory_zeroed(1, sizeof(*options->jit_maps));
    options->source_roots = memory_zeroed(1, sizeof(*options->source_roots));
    options->patterns = memory_zeroed(1, sizeof(*options->patterns));
    options->traces = memory_zeroed(1, sizeof(*options->traces));
    command_line_begin(&line, table, ALL, argc, argv);
    line.has_whole_names = true; /* umbra hands on words that it has looked at */
    while (command_line_next(&line)) {
        if (line.fault)
            refuse_option(&line);
        prints_options = prints_options || line.option->code == CODE_PRINT_OPTIONS;
        if (!apply_selection(options, line.option, line.value))
            apply(options, line.option, line.value);
    }
    if (prints_options) {
        print_options(options);
        exit(EXIT_SUCCESS);
    }
    for (char **word = line.rest; *word; word++)
        options->traces = append(options->traces, memory_copy_string(*word));
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
    free(options->again);
    free(options->times_from);
    free_strings(options->source_roots);
    free_strings(options->patterns);
    free_strings(options->traces);
    selection_free(&options->selection);
    free(options->output);
    free(options->format);
}
