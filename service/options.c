#include "service/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/call_trace.h"
#include "service/message.h"
#include "service/tick_clock.h"
#include "trace/protocol.h"
#include "trace/trace_format.h"

static const char help_text[] =
    "call_trace_service - hands trace files to instrumented programs and completes them\n"
    "\n"
    "    call_trace_service start  [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
    "    call_trace_service spawn  [OPTION]...\n"
    "    call_trace_service stop   [--instance-id=ID]\n"
    "    call_trace_service status [--instance-id=ID]\n"
    "\n"
    "start   Serves in the foreground until interrupted. With COMMAND, runs it under an\n"
    "        instance of its own, stops when it ends and returns its exit status\n"
    "        (128 + N if signal N killed it, 127 if it was not found).\n"
    "spawn   Serves in the background; returns as soon as programs can be recorded.\n"
    "stop    Stops a service; returns when it has ended and its traces are complete.\n"
    "status  Prints the sessions and bytes of a service; exit status 1 if there is none.\n"
    "\n"
    "  --trace-dir=DIR         where traces go, made if missing (default: traces)\n"
    "  --instance-id=ID        serve beside other instances; programs find theirs through\n"
    "                          UMBRA_INSTANCE_ID (default: its value, else \"default\")\n"
    "  --node-limit=N          calling contexts a thread may have before further ones are\n"
    "                          kept by caller and callee only (default: 65536)\n"
    "  --slices=N              time slices a recording has at most, for grinder --mode=report;\n"
    "                          0: none (default: 200)\n"
    "  --max-trace-size=BYTES  what a trace may grow to; K, M, G may follow (default: 1G)\n"
    "  --mode=MODE             profile: a calling-context tree a thread (default); calltrace:\n"
    "                          also each entry and end of a call with its time, compressed\n"
    "  --ring-size=BYTES       calltrace: memory for events not yet written (default: 64M)\n"
    "  --max-events-size=BYTES calltrace: what a process's events may take on disk; then\n"
    "                          recording them stops (default: no limit) ...\n"
    "  --keep-newest           ... or, a flight recorder, the oldest are removed\n"
    "  --timing=exact|adaptive times each call, or, of those that are short and many, some\n"
    "                          (default: adaptive; counts are exact in both)\n"
    "  --verbose               one line when a session begins and when it ends\n"
    "  --help                  this page\n"
    "\n"
    "Exit status: 0, 1 for failure, 2 for wrong usage, or that of COMMAND.\n";

struct raw_options {
    const char *trace_dir, *instance, *node_limit, *slices, *max_trace_size;
    const char *mode, *ring_size, *events_size, *timing;
    bool keep_newest, verbose, help;
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

static bool read_verb(struct options *options, const char *name)
{
    static const char *const names[] = {
        [VERB_START] = "start",
        [VERB_SPAWN] = "spawn",
        [VERB_STOP] = "stop",
        [VERB_STATUS] = "status",
    };

    for (int i = VERB_START; name && i <= VERB_STATUS; i++) {
        if (!strcmp(name, names[i])) {
            options->verb = (enum verb)i;
            return true;
        }
    }
    message("%s: expected start, spawn, stop or status; see --help", name ? name : "no verb");
    return false;
}

/*
 * The instance: as given, else as UMBRA_INSTANCE_ID says, else the default one. A command is run
 * under an instance nobody else has, so that any number of them can run at once.
 */
static bool choose_instance(struct options *options, const char *given)
{
    const char *instance = given ? given : getenv("UMBRA_INSTANCE_ID");
    char path[PROTOCOL_PATH_SIZE];

    if (options->command && !given) {
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

    if (strlen(path) < sizeof(options->trace_dir)) {
        strcpy(options->trace_dir, path);
        return true;
    }
    message("--trace-dir: expected a path of less than %zu bytes", sizeof(options->trace_dir));
    return false;
}

static bool choose_limits(struct options *options, const struct raw_options *raw)
{
    uint64_t limit = OPTIONS_DEFAULT_NODE_LIMIT;
    uint64_t size = OPTIONS_DEFAULT_TRACE_SIZE;
    const char *rest = "";

    if (raw->node_limit && (!parse_number(raw->node_limit, &limit, &rest) || *rest || limit < 1 ||
                            limit > UINT32_MAX)) {
        message("--node-limit=%s: expected a number from 1 to %u", raw->node_limit, UINT32_MAX);
        return false;
    }
    if (raw->max_trace_size && (!options_parse_size(raw->max_trace_size, &size) ||
                                size < OPTIONS_MIN_TRACE_SIZE || size > OPTIONS_MAX_TRACE_SIZE)) {
        message("--max-trace-size=%s: expected bytes from 64K to 256G", raw->max_trace_size);
        return false;
    }
    options->node_limit = (uint32_t)limit;
    options->max_trace_size = size - size % TRACE_BLOCK_SIZE;
    return true;
}

static bool choose_slices(struct options *options, const struct raw_options *raw)
{
    uint64_t slices = OPTIONS_DEFAULT_SLICES;
    const char *rest = "";

    if (raw->slices && (!parse_number(raw->slices, &slices, &rest) || *rest || slices == 1 ||
                        slices > OPTIONS_MAX_SLICES)) {
        message("--slices=%s: expected 0 or a number from 2 to %u", raw->slices,
                OPTIONS_MAX_SLICES);
        return false;
    }
    options->slices = (uint32_t)slices;
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
    options->records_events = raw->mode && !strcmp(raw->mode, "calltrace");
    options->events = (struct event_policy){
        .ring_size = OPTIONS_DEFAULT_RING_SIZE,
        .keep_newest = raw->keep_newest,
    };
    if (raw->mode && !options->records_events && strcmp(raw->mode, "profile")) {
        message("--mode=%s: expected profile or calltrace", raw->mode);
        return false;
    }
    if (options->records_events && !call_trace_is_possible()) {
        message("--mode=calltrace: expected Linux; here only profiles can be recorded");
        return false;
    }
    if (!options->records_events && (raw->ring_size || raw->events_size || raw->keep_newest)) {
        message("--ring-size, --max-events-size and --keep-newest go with --mode=calltrace");
        return false;
    }
    if (raw->keep_newest && !raw->events_size) {
        message("--keep-newest: expected --max-events-size, the size to keep, as well");
        return false;
    }
    return choose_size("ring-size", raw->ring_size, OPTIONS_MIN_RING_SIZE, OPTIONS_MAX_RING_SIZE,
                       "1M to 4G", &options->events.ring_size) &&
           choose_size("max-events-size", raw->events_size, OPTIONS_MIN_RING_SIZE, UINT64_MAX / 2,
                       "1M", &options->events.disk_size);
}

static bool choose_timing(struct options *options, const char *given)
{
    options->is_exact = options->records_events || (given && !strcmp(given, "exact"));
    if (given && !strcmp(given, "adaptive") && options->records_events) {
        message("--timing=adaptive: with --mode=calltrace each call is timed");
        return false;
    }
    if (!given || options->is_exact || !strcmp(given, "adaptive"))
        return true;
    message("--timing=%s: expected exact or adaptive", given);
    return false;
}

/* Options that only a verb which serves understands. */
static bool check_verb(const struct options *options, const struct raw_options *raw,
                       const char *excess)
{
    bool serves = options->verb == VERB_START || options->verb == VERB_SPAWN;

    if (excess) {
        message("%s: unexpected argument%s", excess,
                options->verb == VERB_START ? "; put -- before a command to run" : "; see --help");
        return false;
    }
    if (options->command && options->verb != VERB_START) {
        message("-- %s: only start takes a command", options->command[0]);
        return false;
    }
    if (!serves &&
        (raw->trace_dir || raw->node_limit || raw->slices || raw->max_trace_size || raw->mode ||
         raw->ring_size || raw->events_size || raw->keep_newest || raw->timing || raw->verbose)) {
        message("stop and status take no option but --instance-id; see --help");
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
        options->command = argv + i + 1;
        if (*options->command)
            return true;
        message("--: expected a command behind it");
        return false;
    }
    return true;
}

enum option_code {
    OPTION_TRACE_DIR = 1,
    OPTION_INSTANCE,
    OPTION_NODES,
    OPTION_SLICES,
    OPTION_SIZE,
    OPTION_MODE,
    OPTION_RING_SIZE,
    OPTION_EVENTS_SIZE,
    OPTION_KEEP_NEWEST,
    OPTION_TIMING,
    OPTION_VERBOSE,
    OPTION_HELP
};

static const struct option option_table[] = {
    {"trace-dir", required_argument, NULL, OPTION_TRACE_DIR},
    {"instance-id", required_argument, NULL, OPTION_INSTANCE},
    {"node-limit", required_argument, NULL, OPTION_NODES},
    {"slices", required_argument, NULL, OPTION_SLICES},
    {"max-trace-size", required_argument, NULL, OPTION_SIZE},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"ring-size", required_argument, NULL, OPTION_RING_SIZE},
    {"max-events-size", required_argument, NULL, OPTION_EVENTS_SIZE},
    {"keep-newest", no_argument, NULL, OPTION_KEEP_NEWEST},
    {"timing", required_argument, NULL, OPTION_TIMING},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static void keep_option(struct raw_options *raw, int code)
{
    switch (code) {
    case OPTION_TRACE_DIR:
        raw->trace_dir = optarg;
        break;
    case OPTION_INSTANCE:
        raw->instance = optarg;
        break;
    case OPTION_NODES:
        raw->node_limit = optarg;
        break;
    case OPTION_SLICES:
        raw->slices = optarg;
        break;
    case OPTION_SIZE:
        raw->max_trace_size = optarg;
        break;
    case OPTION_MODE:
        raw->mode = optarg;
        break;
    case OPTION_RING_SIZE:
        raw->ring_size = optarg;
        break;
    case OPTION_EVENTS_SIZE:
        raw->events_size = optarg;
        break;
    case OPTION_KEEP_NEWEST:
        raw->keep_newest = true;
        break;
    case OPTION_TIMING:
        raw->timing = optarg;
        break;
    case OPTION_VERBOSE:
        raw->verbose = true;
        break;
    case OPTION_HELP:
        raw->help = true;
        break;
    }
}

/* Returns false after one message. What is no option is in argv from optind on. */
static bool read_options(struct raw_options *raw, int argc, char **argv)
{
    int code;

    opterr = 0;
    optind = 0; /* begin anew, also where this was called before */
    while ((code = getopt_long(argc, argv, ":", option_table, NULL)) != -1) {
        if (code == '?' || code == ':') {
            message("%s: %s; see --help", argv[optind - 1],
                    code == ':' ? "expected a value behind it"
                                : "unknown option, or a value where none is expected");
            return false;
        }
        keep_option(raw, code);
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv)
{
    struct raw_options raw = {0};

    memset(options, 0, sizeof(*options));
    if (!split_command(options, &argc, argv))
        return false;
    if (!read_options(&raw, argc, argv))
        return false;
    if (raw.help) {
        fputs(help_text, stdout);
        return true;
    }
    options->verbose = raw.verbose;
    return read_verb(options, optind < argc ? argv[optind] : NULL) &&
           check_verb(options, &raw, optind + 1 < argc ? argv[optind + 1] : NULL) &&
           choose_trace_dir(options, raw.trace_dir) && choose_instance(options, raw.instance) &&
           choose_limits(options, &raw) && choose_slices(options, &raw) &&
           choose_mode(options, &raw) && choose_timing(options, raw.timing);
}
