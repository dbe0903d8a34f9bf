/* The command line of call_trace_service. */
#ifndef UMBRA_SERVICE_OPTIONS_H
#define UMBRA_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/recorder/recorder.h"
#include "service/tool/option_table.h"

/* The ranges of these stand in option_table.c. A trace's size is bounded by a node's index, which
   has 32 bits, of 64-byte units. */
#define OPTIONS_DEFAULT_TRACE_SIZE (1ull << 30)
#define OPTIONS_DEFAULT_RING_SIZE  (64ull << 20) /* shared memory of a process in call-trace mode */
#define OPTIONS_DEFAULT_INTERVAL   2.0           /* seconds, of top */
#define OPTIONS_DEFAULT_SLICES     200u
#define OPTIONS_DEFAULT_SAMPLES    1000u /* in a second of a thread's processor time */

/* Calling contexts a thread may have before they fold: --node-limit. Those of a process also do once
   they take a quarter of what its trace may. */
#define OPTIONS_DEFAULT_NODE_LIMIT (1u << 20)

#define OPTIONS_INSTANCE_SIZE 64
#define OPTIONS_MOST_FILTERS  100

struct options {
    enum verb verb;
    char instance[OPTIONS_INSTANCE_SIZE];
    struct recorder_settings recording; /* strings in argv, as the others */
    bool is_quiet;
    char **command; /* what stands behind "--", zero-terminated; null if there is none. Of top the
                        grinder's options */
    bool is_of_stacks; /* --mode=samples: nothing is instrumented */
    const char *linux_only; /* why an option given is of no use to Windows programs; or null */

    bool follows;                /* attach: what the process executes, too */
    double overhead;             /* attach: percent that hooks may cost; 0: whatever they do */
    pid_t attached;              /* attach, detach, hook, unhook: the process; else 0 */
    char *const *patterns;       /* hook, unhook: of functions; null at the end */
    char *filters[OPTIONS_MOST_FILTERS + 1]; /* attach: options of `instrument`; null at the end; last */

    bool as_json;
    uint32_t session, pid; /* 0 for all */
    const char *output;    /* null: a name is made up */
    uint32_t interval_ms;
    uint32_t times; /* refreshes of top; 0: no end */
    bool is_once;
};

/*
 * Reads the command line. options->command points into argv.
 * Returns false for wrong usage, after one message.
 */
bool options_parse(struct options *options, int argc, char **argv);

#endif
