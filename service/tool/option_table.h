/* The verbs of call_trace_service and their options, once for all: what is read (options.h), what
   --help shows and what shells complete. */
#ifndef UMBRA_SERVICE_OPTION_TABLE_H
#define UMBRA_SERVICE_OPTION_TABLE_H

#include "support/command_line.h"

enum verb {
    VERB_NONE, /* --help, --version: nothing more to do */
    VERB_START,
    VERB_SPAWN,
    VERB_STOP,
    VERB_STATUS,
    VERB_LIST,
    VERB_TOP,
    VERB_SNAPSHOT,
    VERB_PAUSE,
    VERB_RESUME,
    VERB_ATTACH,
    VERB_DETACH,
    VERB_UNHOOK,
    VERB_HOOK,
};

#define VERB_COUNT (VERB_HOOK + 1)

enum option_code {
    OPTION_TRACE_DIR = 1,
    OPTION_INSTANCE,
    OPTION_NODES,
    OPTION_SLICES,
    OPTION_SAMPLES,
    OPTION_SIZE,
    OPTION_MODE,
    OPTION_RING_SIZE,
    OPTION_EVENTS_SIZE,
    OPTION_KEEP_NEWEST,
    OPTION_TIMING,
    OPTION_PAUSED,
    OPTION_LOG_FILE,
    OPTION_VERBOSE,
    OPTION_QUIET,
    OPTION_JSON,
    OPTION_SESSION,
    OPTION_PID,
    OPTION_OUTPUT,
    OPTION_INTERVAL,
    OPTION_TIMES,
    OPTION_ONCE,
    OPTION_INCLUDE,
    OPTION_EXCLUDE,
    OPTION_OVERHEAD,
    OPTION_FOLLOW,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_PRINT_VERBS,
    OPTION_PRINT_OPTIONS,
    OPTION_COUNT
};

/* A verb is a bit in them: 1 << verb. No code is in two rows. */
extern const struct command_option option_table[];

const struct command_option *option_of(enum option_code code);

/* VERB_NONE if there is none of that name. */
const char *verb_name(enum verb verb);
enum verb verb_named(const char *name);

/* On stdout: the page of --help; a line "name<tab>what it does" for each verb, as shells complete
   them. */
void option_table_show_help(void);
void option_table_print_verbs(void);

#endif
