#include "service/tool/options.h"

#include <ctype.h>
#include <errno.h>
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
};

static bool parse_number(const char *text, uint64_t *number, const char **rest)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    *rest = end;
    return !errno;
}

bool options_parse_size(const char *text, uint64_t *size)
{
    static const char suffixes[] = "KMG";
    unsigned shift = 0;

    if (!parse_number(text, size, &text))
        return false;
    if (*text) {
        const char *suffix = strchr(suffixes, toupper((unsigned char)*text));
        if (!suffix || text[1])
            return false;
        shift = 10 * (unsigned)(suffix - suffixes + 1);
    }
    if (*size > UINT64_MAX >> shift)
        return false;
    *size <<= shift;
    return true;
}

static bool refuse_verb(const char *name)
{
    static const char verbs[] = "start, spawn, stop, status, list, pause, resume, top or snapshot";
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
 * under an instance nobody else has, so that any number of them can run at once.
 */
static bool choose_instance(struct options *options, const char *given)
{
    const char *instance = given ? given : getenv("UMBRA_INSTANCE_ID");
    char path[PROTOCOL_PATH_SIZE];

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

/* One of 1 to UINT32_MAX; by_default where the option was not given. */
static bool choose_number(const struct raw_options *raw, enum option_code code, uint32_t *chosen,
                          uint32_t by_default)
{
    const char *given = raw->values[code];
    const char *rest;
    uint64_t number;

    *chosen = by_default;
    if (!given)
        return true;
    if (!parse_number(given, &number, &rest) || *rest || number < 1 || number > UINT32_MAX) {
        message("--%s=%s: expected a number from 1 to %u", option_of(code)->name, given,
                UINT32_MAX);
        return false;
    }
    *chosen = (uint32_t)number;
    return true;
}

/* Seconds, with a fraction. */
static bool choose_interval(struct options *options, const char *given)
{
    char *end = NULL;
    double seconds = given ? strtod(given, &end) : OPTIONS_DEFAULT_INTERVAL;

    if (given && (!*given || *end || !(seconds >= 0.1 && seconds <= 3600))) {
        message("--interval=%s: expected seconds from 0.1 to 3600", given);
        return false;
    }
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
    return choose_number(raw, OPTION_SESSION, &options->session, 0) &&
           choose_number(raw, OPTION_PID, &options->pid, 0) &&
           choose_number(raw, OPTION_TIMES, &options->times, 0) &&
           choose_interval(options, raw->values[OPTION_INTERVAL]);
}

static bool choose_limits(struct options *options, const struct raw_options *raw)
{
    const char *size_given = raw->values[OPTION_SIZE];
    uint64_t size = OPTIONS_DEFAULT_TRACE_SIZE;

    if (!choose_number(raw, OPTION_NODES, &options->recording.node_limit,
                       OPTIONS_DEFAULT_NODE_LIMIT))
        return false;

    if (size_given && (!options_parse_size(size_given, &size) || size < OPTIONS_MIN_TRACE_SIZE ||
                       size > OPTIONS_MAX_TRACE_SIZE)) {
        message("--max-trace-size=%s: expected bytes from 64K to 256G", size_given);
        return false;
    }
    options->recording.max_trace_size = size - size % TRACE_BLOCK_SIZE;
    return true;
}

static bool choose_slices(struct options *options, const char *given)
{
    uint64_t slices = OPTIONS_DEFAULT_SLICES;
    const char *rest = "";

    if (given && (!parse_number(given, &slices, &rest) || *rest || slices == 1 ||
                  slices > OPTIONS_MAX_SLICES)) {
        message("--slices=%s: expected 0 or a number from 2 to %u", given, OPTIONS_MAX_SLICES);
        return false;
    }
    options->recording.slices = (uint32_t)slices;
    return true;
}

static bool parse_samples(const char *given, uint64_t *samples, enum sample_source *source)
{
    const char *rest = "";

    if (!strcmp(given, "perf"))
        *source = SAMPLE_SOURCE_PERF;
    else if (!strcmp(given, "timer"))
        *source = SAMPLE_SOURCE_TIMER;
    else if (!strcmp(given, "no"))
        *samples = 0;
    else
        return parse_number(given, samples, &rest) && !*rest && *samples <= OPTIONS_MAX_SAMPLES;
    return true;
}

static bool choose_samples(struct options *options, const char *given)
{
    uint64_t samples = OPTIONS_DEFAULT_SAMPLES;

    if (given && !parse_samples(given, &samples, &options->recording.sample_source)) {
        message("--samples=%s: expected a number from 0 to %u, perf, timer or no", given,
                OPTIONS_MAX_SAMPLES);
        return false;
    }
    options->recording.samples = (uint32_t)samples;
    return true;
}

static bool choose_size(const char *name, const char *given, uint64_t least, uint64_t most,
                        const char *range, uint64_t *size)
{
    if (!given || (options_parse_size(given, size) && *size >= least && *size <= most))
        return true;
    message("--%s=%s: expected bytes from %s", name, given, range);
    return false;
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
        .ring_size = OPTIONS_DEFAULT_RING_SIZE,
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
    return choose_size("ring-size", ring_size, OPTIONS_MIN_RING_SIZE, OPTIONS_MAX_RING_SIZE,
                       "1M to 4G", &options->recording.events.ring_size) &&
           choose_size("max-events-size", events_size, OPTIONS_MIN_RING_SIZE, UINT64_MAX / 2, "1M",
                       &options->recording.events.disk_size);
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
    return read_verb(options, verb) && check_verb(options, &raw, verb ? line.rest[1] : NULL) &&
           choose_messages(options, &raw) &&
           choose_trace_dir(options, raw.values[OPTION_TRACE_DIR]) &&
           choose_instance(options, raw.values[OPTION_INSTANCE]) && choose_limits(options, &raw) &&
           choose_slices(options, raw.values[OPTION_SLICES]) &&
           choose_samples(options, raw.values[OPTION_SAMPLES]) && choose_mode(options, &raw) &&
           choose_stacks(options, &raw) && choose_timing(options, &raw) &&
           choose_system(options, &raw) && choose_sessions(options, &raw);
}
