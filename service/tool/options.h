/* The command line of call_trace_service. */
#ifndef UMBRA_SERVICE_OPTIONS_H
#define UMBRA_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/recorder/recorder.h"
#include "service/tool/option_table.h"

/* What a trace may grow to: --max-trace-size. A node's index has 32 bits, of 64-byte units. */
#define OPTIONS_DEFAULT_TRACE_SIZE (1ull << 30)
#define OPTIONS_MIN_TRACE_SIZE     (64ull << 10)
#define OPTIONS_MAX_TRACE_SIZE     (256ull << 30)

/* Shared memory of a process in call-trace mode: --ring-size. */
#define OPTIONS_DEFAULT_RING_SIZE (64ull << 20)
#define OPTIONS_MIN_RING_SIZE     (1ull << 20)
#define OPTIONS_MAX_RING_SIZE     (4ull << 30)

/* Calling contexts a thread may have before they fold: --node-limit. Those of a process also do once
   they take a quarter of what its trace may. */
#define OPTIONS_DEFAULT_NODE_LIMIT (1u << 20)

#define OPTIONS_DEFAULT_INTERVAL 2.0 /* seconds, of top */

#define OPTIONS_INSTANCE_SIZE 64

/* Time slices of a recording at most: --slices. */
#define OPTIONS_DEFAULT_SLICES 200u
#define OPTIONS_MAX_SLICES     10000u

/* Samples in a second of a thread's processor time: --samples. */
#define OPTIONS_DEFAULT_SAMPLES 1000u
#define OPTIONS_MAX_SAMPLES     10000u

struct options {
    enum verb verb;
    char instance[OPTIONS_INSTANCE_SIZE];
    struct recorder_settings recording; /* strings in argv, as the others */
    bool is_quiet;
    char **command; /* what stands behind "--", zero-terminated; null if there is none. Of top the
                        grinder's options */
    bool is_of_stacks; /* --mode=samples: nothing is instrumented */
    const char *linux_only; /* why an option given is of no use to Windows programs; or null */

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

/* Reads "65536", "64K", "16M" or "1G" into *size. Returns false for anything else. */
bool options_parse_size(const char *text, uint64_t *size);

#endif
