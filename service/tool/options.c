#include "service/tool/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/base/tick_clock.h"
#include "support/command_line.h"
#include "support/nearest.h"
#include "trace/protocol.h"
#include "trace/trace_format.h"

struct raw_options {
    const char *values[OPTION_COUNT]; /* as given; "" for those that take none; null: not given */
    const char *patterns[OPTIONS_MOST_FILTERS]; /* of --include and --exclude, in their order */
    bool is_include[OPTIONS_MOST_FILTERS];
    size_t pattern_count;
};

static bool refuse_verb(const char *name)
{
    static const char verbs[] =
        "start, spawn, attach, detach, unhook, hook, stop, status, list, pause, resume, top or snapshot";
    struct nearest nearest = nearest_to(name ? name : "", name ? strlen(name) : 0);

    for (enum verb verb = VERB_START; verb < VERB_COUNT; verb++)
        nearest_offer(&nearest, verb_name(verb));
    if (nearest.word)
        message("%s: expected %s (did you mean %s?); see --help", name, verbs, nearest.word);
    else
        message("%s: expected %s; see --help", name ? name : "no verb", verbs);
    return false;
}

static bool read_verb(struct options *options, const char *name)
{
    options->verb = name ? verb_named(name) : VERB_NONE;
    return options->verb != VERB_NONE || refuse_verb(name);
}

/*
 * The instance: as given, else as UMBRA_INSTANCE_ID says, else the default one. A command is run
 * under an instance nobody else has, so that any number of them can run at once. A process is
 * attached to under one that has its number.
 */
static bool choose_instance(struct options *options, const char *given)
{
    const char *instance = given ? given : getenv("UMBRA_INSTANCE_ID");
    char path[PROTOCOL_PATH_SIZE];

    if (options->attached && !given) {
        snprintf(options->instance, sizeof(options->instance), "attach-%d", (int)options->attached);
        return true;
    }
    if (options->command && options->verb == VERB_START && !given) {
        snprintf(options->instance, sizeof(options->instance), "run-%d-%06lx", (int)getpid(),
                 (unsigned long)tick_clock_now() & 0xffffff);
        return true;
    }
    if (!instance || !*instance)
        instance = PROTOCOL_DEFAULT_INSTANCE;
    if (strlen(instance) >= OPTIONS_INSTANCE_SIZE ||
        !protocol_socket_path(path, "/", instance, 0)) {
        message("%s: as an instance id, expected up to %d letters, digits, '-', '_' and '.', "
                "the first not '.'",
                instance, OPTIONS_INSTANCE_SIZE - 1);
        return false;
    }
    strcpy(options->instance, instance);
    return true;
}

static bool choose_trace_dir(struct options *options, const char *given)
{
    const char *path = given && *given ? given : "traces";

    options->recording.trace_dir = path;
    if (strlen(path) < FILE_PATH_SIZE)
        return true;
    message("--trace-dir: expected a path of less than %d bytes", FILE_PATH_SIZE);
    return false;
}

/* Says what the value may be. Always false. */
static bool refuse_value(enum option_code code, const char *given)
{
    char list[128];

    message("--%s=%s: expected %s", option_of(code)->name, given,
            command_line_list_values(option_of(code), list, sizeof(list)));
    return false;
}

/* In the table's range; by_default where the option was not given. */
static bool choose_number(const struct raw_options *raw, enum option_code code, double *chosen,
                          double by_default)
{
    const char *given = raw->values[code];

    *chosen = by_default;
    return !given || command_line_number(option_of(code), given, chosen) ||
           refuse_value(code, given);
}

/* The same for options whose range has 32 bits. */
static bool choose_count(const struct raw_options *raw, enum option_code code, uint32_t *chosen,
                         uint32_t by_default)
{
    double number;

    if (!choose_number(raw, code, &number, by_default))
        return false;
    *chosen = (uint32_t)number;
    return true;
}

static bool choose_size(const struct raw_options *raw, enum option_code code, uint64_t *chosen,
                        uint64_t by_default)
{
    double number;

    if (!choose_number(raw, code, &number, (double)by_default))
        return false;
    *chosen = number < (double)(UINT64_MAX / 2) ? (uint64_t)number : UINT64_MAX / 2;
    return true;
}

static bool choose_interval(struct options *options, const struct raw_options *raw)
{
    double seconds;

    if (!choose_number(raw, OPTION_INTERVAL, &seconds, OPTIONS_DEFAULT_INTERVAL))
        return false;
    options->interval_ms = (uint32_t)(seconds * 1000);
    return true;
}

/* Which of the sessions, and what is to be done with them. */
static bool choose_sessions(struct options *options, const struct raw_options *raw)
{
    options->output = raw->values[OPTION_OUTPUT];
    if (raw->values[OPTION_SESSION] && raw->values[OPTION_PID]) {
        message("--session and --pid exclude each other");
        return false;
    }
    return choose_count(raw, OPTION_SESSION, &options->session, 0) &&
           choose_count(raw, OPTION_PID, &options->pid, 0) &&
           choose_count(raw, OPTION_TIMES, &options->times, 0) && choose_interval(options, raw);
}

static bool choose_limits(struct options *options, const struct raw_options *raw)
{
    uint64_t size;

    if (!choose_count(raw, OPTION_NODES, &options->recording.node_limit,
                      OPTIONS_DEFAULT_NODE_LIMIT) ||
        !choose_size(raw, OPTION_SIZE, &size, OPTIONS_DEFAULT_TRACE_SIZE) ||
        !choose_count(raw, OPTION_SLICES, &options->recording.slices, OPTIONS_DEFAULT_SLICES))
        return false;
    options->recording.max_trace_size = size - size % TRACE_BLOCK_SIZE;
    return true;
}

static bool choose_samples(struct options *options, const struct raw_options *raw)
{
    const char *given = raw->values[OPTION_SAMPLES];
    bool is_word = given && command_line_find_value(option_of(OPTION_SAMPLES), given) >= 0;

    options->recording.samples = OPTIONS_DEFAULT_SAMPLES;
    if (!is_word)
        return choose_count(raw, OPTION_SAMPLES, &options->recording.samples,
                            OPTIONS_DEFAULT_SAMPLES);
    if (!strcmp(given, "no"))
        options->recording.samples = 0;
    else
        options->recording.sample_source =
            strcmp(given, "perf") ? SAMPLE_SOURCE_TIMER : SAMPLE_SOURCE_PERF;
    return true;
}

static bool choose_mode(struct options *options, const struct raw_options *raw)
{
    const char *mode = raw->values[OPTION_MODE];
    const char *ring_size = raw->values[OPTION_RING_SIZE];
    const char *events_size = raw->values[OPTION_EVENTS_SIZE];
    bool keep_newest = raw->values[OPTION_KEEP_NEWEST];

    options->recording.records_events = mode && !strcmp(mode, "calltrace");
    options->is_of_stacks = mode && !strcmp(mode, "samples");
    options->recording.events = (struct event_policy){
        .keep_newest = keep_newest,
    };
    if (mode && command_line_find_value(option_of(OPTION_MODE), mode) < 0)
        return refuse_value(OPTION_MODE, mode);
    if (!options->recording.records_events && (ring_size || events_size || keep_newest)) {
        message("--ring-size, --max-events-size and --keep-newest go with --mode=calltrace");
        return false;
    }
    if (keep_newest && !events_size) {
        message("--keep-newest: expected --max-events-size, the size to keep, as well");
        return false;
    }
    return choose_size(raw, OPTION_RING_SIZE, &options->recording.events.ring_size,
                       OPTIONS_DEFAULT_RING_SIZE) &&
           choose_size(raw, OPTION_EVENTS_SIZE, &options->recording.events.disk_size, 0);
}

/* Whole stacks have no contexts to bound, no calls to time, and nobody who could pause them. */
static bool choose_stacks(const struct options *options, const struct raw_options *raw)
{
    static const enum option_code excess[] = {OPTION_NODES,  OPTION_SLICES, OPTION_SIZE,
                                              OPTION_TIMING, OPTION_PAUSED, OPTION_LOG_FILE};

    if (!options->is_of_stacks && raw->values[OPTION_PID] && options->verb == VERB_START) {
        message("--pid: what runs already can only be sampled: --mode=samples");
        return false;
    }
    if (!options->is_of_stacks)
        return true;
    for (size_t i = 0; i < sizeof(excess) / sizeof(*excess); i++) {
        if (!raw->values[excess[i]])
            continue;
        message("--%s: does nothing with --mode=samples", option_of(excess[i])->name);
        return false;
    }
    if (options->verb != VERB_START || !options->command == !raw->values[OPTION_PID]) {
        message("--mode=samples: expected start, and -- and a command to sample, or --pid=PID");
        return false;
    }
    if (options->recording.samples && options->recording.sample_source != SAMPLE_SOURCE_TIMER)
        return true;
    message("--samples=%s: expected samples a second, or perf, with --mode=samples",
            raw->values[OPTION_SAMPLES]);
    return false;
}

static bool find_timing(const char *name, enum trace_timing *timing)
{
    static const enum trace_timing timings[] = {TRACE_TIMING_ADAPTIVE, TRACE_TIMING_EXACT,
                                                TRACE_TIMING_SAMPLES, TRACE_TIMING_NONE};
    int place = command_line_find_value(option_of(OPTION_TIMING), name);

    if (place >= 0)
        *timing = timings[place]; /* in the order of the table's values */
    return place >= 0;
}

/* Programs sample themselves. */
static bool choose_own_samples(const struct options *options, const struct raw_options *raw)
{
    if (!options->recording.samples)
        message("--samples=%s: with --timing=samples all times are samples",
                raw->values[OPTION_SAMPLES]);
    return options->recording.samples;
}

/* Slices and samples are times. */
static bool choose_no_times(struct options *options, const struct raw_options *raw)
{
    const char *excess = raw->values[OPTION_SLICES] && options->recording.slices     ? "slices"
                         : raw->values[OPTION_SAMPLES] && options->recording.samples ? "samples"
                                                                                     : NULL;

    options->recording.slices = options->recording.samples = 0;
    if (!excess)
        return true;
    message("--%s: with --timing=none no times are recorded", excess);
    return false;
}

/* Without samples, calls are timed. */
static enum trace_timing default_timing(const struct options *options)
{
    return options->recording.records_events ? TRACE_TIMING_EXACT
           : options->recording.samples      ? TRACE_TIMING_SAMPLES
                                             : TRACE_TIMING_ADAPTIVE;
}

static bool choose_timing(struct options *options, const struct raw_options *raw)
{
    const char *given = raw->values[OPTION_TIMING];
    bool records_events = options->recording.records_events;

    options->recording.timing = default_timing(options);
    if (given && !find_timing(given, &options->recording.timing))
        return refuse_value(OPTION_TIMING, given);
    if (records_events && options->recording.timing != TRACE_TIMING_EXACT) {
        message("--timing=%s: with --mode=calltrace each call is timed", given);
        return false;
    }
    if (options->recording.timing == TRACE_TIMING_SAMPLES)
        return choose_own_samples(options, raw);
    if (options->recording.sample_source == SAMPLE_SOURCE_TIMER) {
        message("--samples=timer: expected --timing=samples, where threads have timers");
        return false;
    }
    return options->recording.timing != TRACE_TIMING_NONE || choose_no_times(options, raw);
}

/* The agent for Windows has no rings of events, and its programs are not sampled. */
static bool choose_system(struct options *options, const struct raw_options *raw)
{
    if (options->recording.records_events)
        options->linux_only = "--mode=calltrace: only profiles of Windows programs are recorded";
    else if (raw->values[OPTION_SAMPLES] && options->recording.samples)
        options->linux_only = "--samples: Windows programs are not sampled";
    if (!options->linux_only || process_own_system() == TRACE_SYSTEM_LINUX)
        return true;
    message("%s", options->linux_only);
    return false;
}

static bool choose_messages(struct options *options, const struct raw_options *raw)
{
    options->recording.log_file = raw->values[OPTION_LOG_FILE];
    options->recording.is_verbose = raw->values[OPTION_VERBOSE];
    options->is_quiet = raw->values[OPTION_QUIET];
    if (!options->recording.is_verbose || !options->is_quiet)
        return true;
    message("--verbose and --quiet exclude each other");
    return false;
}

/* Each verb has its own options. */
static bool check_verb(const struct options *options, const struct raw_options *raw,
                       const char *excess)
{
    if (excess) {
        message("%s: unexpected argument%s", excess,
                options->verb == VERB_START ? "; put -- before a command to run" : "; see --help");
        return false;
    }
    if (options->command && options->verb != VERB_START && options->verb != VERB_TOP) {
        message("-- %s: only start takes a command", options->command[0]);
        return false;
    }
    for (enum option_code code = 1; code < OPTION_COUNT; code++) {
        if (!raw->values[code] || option_of(code)->verbs & 1u << options->verb)
            continue;
        message("--%s: %s does not take it; see --help", option_of(code)->name,
                verb_name(options->verb));
        return false;
    }
    return true;
}

/* Cuts argv at "--"; what follows is the command. */
static bool split_command(struct options *options, int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--"))
            continue;
        *argc = i;
        argv[i] = NULL;
        options->command = argv + i + 1;
        if (*options->command)
            return true;
        message("--: expected a command behind it");
        return false;
    }
    return true;
}

static bool take_pattern(struct raw_options *raw, const struct command_line *line)
{
    if (line->option->code != OPTION_INCLUDE && line->option->code != OPTION_EXCLUDE)
        return true;
    if (raw->pattern_count == OPTIONS_MOST_FILTERS) {
        message("--%s: expected at most %d patterns", line->option->name, OPTIONS_MOST_FILTERS);
        return false;
    }
    raw->patterns[raw->pattern_count] = line->value;
    raw->is_include[raw->pattern_count++] = line->option->code == OPTION_INCLUDE;
    return true;
}

/* Returns false after one message. What is no option is in line->rest. */
static bool read_options(struct raw_options *raw, struct command_line *line)
{
    struct failure failure;

    while (command_line_next(line)) {
        if (!command_line_check(line, &failure)) {
            message("%s; see --help", failure.text);
            return false;
        }
        raw->values[line->option->code] = line->value ? line->value : "";
        if (!take_pattern(raw, line))
            return false;
    }
    return true;
}

/* Returns false if it was asked for none of them. */
static bool show_page(const struct raw_options *raw, const char *verb)
{
    if (raw->values[OPTION_HELP])
        option_table_show_help();
    else if (raw->values[OPTION_VERSION])
        puts("call_trace_service " UMBRA_VERSION);
    else if (raw->values[OPTION_PRINT_VERBS])
        option_table_print_verbs();
    else if (raw->values[OPTION_PRINT_OPTIONS])
        command_line_print_options(option_table, verb && verb_named(verb) != VERB_NONE
                                                     ? 1u << verb_named(verb)
                                                     : COMMAND_LINE_ALL);
    else
        return false;
    return true;
}

/* Returns false after one message. */
static bool add_filter(char **filter, const char *name, const char *pattern)
{
    size_t size = strlen(name) + strlen(pattern) + sizeof("--=");

    *filter = malloc(size);
    if (!*filter) {
        message("--%s: out of memory", name);
        return false;
    }
    snprintf(*filter, size, "--%s=%s", name, pattern);
    return true;
}

static bool choose_patterns(struct options *options, char *const *words)
{
    size_t count = 0;

    options->patterns = words;
    while (words[count])
        count++;
    if (!count)
        message("%s: expected functions behind the process, found none; see --help",
                verb_name(options->verb));
    if (count > OPTIONS_MOST_FILTERS)
        message("%s: expected at most %d patterns, found %zu", verb_name(options->verb),
                OPTIONS_MOST_FILTERS, count);
    return count && count <= OPTIONS_MOST_FILTERS;
}

/* A word behind the verb, of which others may follow. Cuts them off. */
static bool choose_process(struct options *options, const struct raw_options *raw, char **words)
{
    bool has_patterns = options->verb == VERB_HOOK || options->verb == VERB_UNHOOK;
    char *end;
    long pid;

    if (options->verb != VERB_ATTACH && options->verb != VERB_DETACH && !has_patterns)
        return true;
    pid = words[1] ? strtol(words[1], &end, 10) : 0;
    if (pid <= 0 || *end || pid > INT32_MAX) {
        message("%s: expected the number of a process, found %s; see --help",
                verb_name(options->verb), words[1] ? words[1] : "none");
        return false;
    }
    options->attached = (pid_t)pid;
    for (size_t i = 0; options->verb == VERB_ATTACH && i < raw->pattern_count; i++)
        if (!add_filter(&options->filters[i], raw->is_include[i] ? "include" : "exclude",
                        raw->patterns[i]))
            return false;
    words[1] = has_patterns ? NULL : words[2];
    return !has_patterns || choose_patterns(options, words + 2);
}

/* What needs the program's own libraries, or is for whole stacks, does not come by attaching. */
static bool choose_attached(struct options *options, const struct raw_options *raw)
{
    if (options->attached && process_own_system() != TRACE_SYSTEM_LINUX) {
        message("%s: programs that run are hooked on Linux only", verb_name(options->verb));
        return false;
    }
    if (options->verb != VERB_ATTACH)
        return true;
    if (options->is_of_stacks) {
        message("--mode=samples: attach hooks calls; start --mode=samples --pid=%d samples",
                (int)options->attached);
        return false;
    }
    options->follows = raw->values[OPTION_FOLLOW];
    return choose_number(raw, OPTION_OVERHEAD, &options->overhead, 0);
}

bool options_parse(struct options *options, int argc, char **argv)
{
    struct raw_options raw = {0};
    struct command_line line;
    const char *verb;

    memset(options, 0, sizeof(*options));
    if (!split_command(options, &argc, argv))
        return false;
    command_line_begin(&line, option_table, COMMAND_LINE_ALL, argc, argv);
    if (!read_options(&raw, &line))
        return false;
    verb = line.rest[0];
    if (show_page(&raw, verb))
        return true;
    options->recording.is_paused = raw.values[OPTION_PAUSED];
    options->as_json = raw.values[OPTION_JSON];
    options->is_once = raw.values[OPTION_ONCE];
    return read_verb(options, verb) && choose_process(options, &raw, line.rest) &&
           check_verb(options, &raw, verb ? line.rest[1] : NULL) &&
           choose_messages(options, &raw) &&
           choose_trace_dir(options, raw.values[OPTION_TRACE_DIR]) &&
           choose_instance(options, raw.values[OPTION_INSTANCE]) && choose_limits(options, &raw) &&
           choose_samples(options, &raw) && choose_mode(options, &raw) &&
           choose_stacks(options, &raw) && choose_timing(options, &raw) &&
           choose_attached(options, &raw) && choose_system(options, &raw) &&
           choose_sessions(options, &raw);
}
