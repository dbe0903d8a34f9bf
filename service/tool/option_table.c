#include "service/tool/option_table.h"

#include <stdio.h>
#include <string.h>

#define OF(verb) (1u << VERB_##verb)
#define SERVES   (OF(START) | OF(SPAWN) | OF(ATTACH))
#define STARTS   (OF(START) | OF(SPAWN))
#define SHOWS    (OF(STATUS) | OF(LIST))
#define CHOOSES  (OF(SNAPSHOT) | OF(PAUSE) | OF(RESUME))
#define ALL      COMMAND_LINE_ALL

/* Sections of --help. */
enum {
    FIRST,
    OF_START_AND_SPAWN,
    OF_OTHERS,
};

const struct command_option option_table[] = {
    {"instance-id", 0, "ID", NULL, ALL, OPTION_INSTANCE, FIRST,
     "which service (UMBRA_INSTANCE_ID, else \"default\")"},

    {"trace-dir", 0, "FOLDER", NULL, SERVES, OPTION_TRACE_DIR, OF_START_AND_SPAWN,
     "where traces go, made if missing (default: traces)"},
    {"node-limit", 0, "N", "1..4294967295", SERVES, OPTION_NODES, OF_START_AND_SPAWN,
     "calling contexts that a thread may have (1048576)"},
    {"slices", 0, "N", "0 2..10000", SERVES, OPTION_SLICES, OF_START_AND_SPAWN,
     "time slices, for grinder --mode=report; 0: none (200)"},
    {"samples", 0, "HZ", "0..10000 perf timer no", SERVES, OPTION_SAMPLES, OF_START_AND_SPAWN,
     "a second of processor time (1000); or perf, timer, no"},
    {"max-trace-size", 0, "BYTES", "64K..256G", SERVES, OPTION_SIZE, OF_START_AND_SPAWN,
     "what a trace may grow to; K, M, G may follow (1G)"},
    {"mode", 0, "MODE", "profile calltrace samples", SERVES, OPTION_MODE, OF_START_AND_SPAWN,
     "profile (default), calltrace: each call; samples alone"},
    {"ring-size", 0, "BYTES", "1M..4G", SERVES, OPTION_RING_SIZE, OF_START_AND_SPAWN,
     "calltrace: memory for events not yet written (64M)"},
    {"max-events-size", 0, "BYTES", "1M..", SERVES, OPTION_EVENTS_SIZE, OF_START_AND_SPAWN,
     "calltrace: events on disk; past it, it stops"},
    {"keep-newest", 0, NULL, NULL, SERVES, OPTION_KEEP_NEWEST, OF_START_AND_SPAWN,
     "calltrace: past it, the oldest events go instead"},
    {"timing", 0, "WAY", "adaptive exact samples none", SERVES, OPTION_TIMING, OF_START_AND_SPAWN,
     "samples (default), adaptive, exact or none"},
    {"paused", 0, NULL, NULL, STARTS, OPTION_PAUSED, OF_START_AND_SPAWN,
     "record nothing before `resume`"},
    {"log-file", 0, "FILE", NULL, SERVES, OPTION_LOG_FILE, OF_START_AND_SPAWN,
     "append messages to FILE; SIGHUP opens it anew"},
    {"verbose", 'v', NULL, NULL, SERVES, OPTION_VERBOSE, OF_START_AND_SPAWN,
     "one line when a session begins and when it ends"},
    {"quiet", 'q', NULL, NULL, SERVES, OPTION_QUIET, OF_START_AND_SPAWN,
     "print nothing but errors"},

    {"json", 0, NULL, NULL, SHOWS, OPTION_JSON, OF_OTHERS, "status, list: print JSON"},
    {"session", 0, "N", "1..4294967295", CHOOSES, OPTION_SESSION, OF_OTHERS,
     "snapshot, pause, resume: that session of list"},
    {"pid", 0, "PID", "1..4294967295", CHOOSES | OF(START), OPTION_PID, OF_OTHERS,
     "snapshot, pause, resume; start --mode=samples: till ^C"},
    {"include", 0, "PATTERN", NULL, OF(ATTACH), OPTION_INCLUDE, OF_OTHERS,
     "attach: hook functions that match, as instrument does"},
    {"exclude", 0, "PATTERN", NULL, OF(ATTACH), OPTION_EXCLUDE, OF_OTHERS,
     "attach: leave functions that match alone"},
    {"follow", 0, NULL, NULL, OF(ATTACH), OPTION_FOLLOW, OF_OTHERS,
     "attach: to programs that it executes, too"},
    {"overhead", 0, "PERCENT", "0.1..1000", OF(ATTACH), OPTION_OVERHEAD, OF_OTHERS,
     "attach: hooks that cost more go, and come back later"},
    {"output", 0, "FILE", NULL, OF(SNAPSHOT), OPTION_OUTPUT, OF_OTHERS,
     "snapshot (default: NAME-PID-N-snapshot.bin)"},
    {"interval", 0, "SECONDS", "0.1..3600", OF(TOP), OPTION_INTERVAL, OF_OTHERS,
     "top: the time between refreshes (default: 2)"},
    {"count", 0, "N", "1..4294967295", OF(TOP), OPTION_TIMES, OF_OTHERS,
     "top: end after N refreshes"},
    {"once", 0, NULL, NULL, OF(TOP), OPTION_ONCE, OF_OTHERS,
     "top: print one table and end, as without a terminal"},
    {"help", 'h', NULL, NULL, ALL, OPTION_HELP, OF_OTHERS, "this page"},
    {"version", 'V', NULL, NULL, ALL, OPTION_VERSION, OF_OTHERS, "the version"},

    {"print-verbs", 0, NULL, NULL, ALL, OPTION_PRINT_VERBS, COMMAND_LINE_HIDDEN, NULL},
    {"print-options", 0, NULL, NULL, ALL, OPTION_PRINT_OPTIONS, COMMAND_LINE_HIDDEN, NULL},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL},
};

static const struct {
    const char *name, *help;
} verbs[VERB_COUNT] = {
    [VERB_START] = {"start", "serve until interrupted; with -- COMMAND, run it, until it ends"},
    [VERB_SPAWN] = {"spawn", "serve in the background; return when programs can be recorded"},
    [VERB_ATTACH] = {"attach", "PID: hook a program that runs, until ^C or detach"},
    [VERB_DETACH] = {"detach", "PID: return when its hooks are out and its trace is on the disk"},
    [VERB_UNHOOK] = {"unhook", "PID PATTERN...: hook these functions no more, after attach"},
    [VERB_HOOK] = {"hook", "PID PATTERN...: hook them again"},
    [VERB_STOP] = {"stop", "return when the service has ended and its traces are on the disk"},
    [VERB_STATUS] = {"status", "state of the service; exit status 1 if there is none"},
    [VERB_LIST] = {"list", "recorded processes: those that run, the last 1000 that ended"},
    [VERB_TOP] = {"top", "hottest functions of running programs [-- GRINDER-OPTION...]"},
    [VERB_SNAPSHOT] = {"snapshot", "copy the trace of a running program, for the grinder"},
    [VERB_PAUSE] = {"pause", "stop recording, in one program, or in all and those to come"},
    [VERB_RESUME] = {"resume", "record again, in one program, or in all and those to come"},
};

const struct command_option *option_of(enum option_code code)
{
    const struct command_option *option = option_table;

    while (option->code != (int)code)
        option++;
    return option;
}

const char *verb_name(enum verb verb)
{
    return verbs[verb].name;
}

enum verb verb_named(const char *name)
{
    for (enum verb verb = VERB_START; verb < VERB_COUNT; verb++)
        if (!strcmp(verbs[verb].name, name))
            return verb;
    return VERB_NONE;
}

#define VERB_COLUMN   12
#define OPTION_COLUMN 26

void option_table_show_help(void)
{
    puts("call_trace_service VERB [OPTION]... - hands traces to instrumented programs");
    for (enum verb verb = VERB_START; verb < VERB_COUNT; verb++) {
        printf("%-*s", VERB_COLUMN, verbs[verb].name);
        command_line_print_text(verbs[verb].help, VERB_COLUMN);
    }
    command_line_print_help(option_table, ALL, FIRST, OPTION_COLUMN);
    puts("Of start, spawn and attach:");
    command_line_print_help(option_table, ALL, OF_START_AND_SPAWN, OPTION_COLUMN);
    puts("Of other verbs:");
    command_line_print_help(option_table, ALL, OF_OTHERS, OPTION_COLUMN);
    puts("Exit status: 0, 1 for failure, 2 for wrong usage; COMMAND's: 128 + N by signal N");
}

void option_table_print_verbs(void)
{
    for (enum verb verb = VERB_START; verb < VERB_COUNT; verb++)
        printf("%s\t%s\n", verbs[verb].name, verbs[verb].help);
}
