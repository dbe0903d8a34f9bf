/*
 * What records: all that sessions share. It knows nothing of who asks for sessions or about them;
 * recorder_life.h opens and closes it.
 *
 *      server --> recorder --> sessions --> each its trace, slices, samples, events
 *                    ^             |
 *                    +-------------+  clock, counters, settings, the event loop
 */
#ifndef UMBRA_SERVICE_RECORDER_H
#define UMBRA_SERVICE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "service/base/event_loop.h"
#include "service/base/tick_clock.h"
#include "service/recorder/cost_table.h"
#include "service/recorder/ended_list.h"
#include "service/recorder/event_policy.h"
#include "service/traces/trace_dir.h"
#include "support/failure.h"
#include "trace/trace_format.h"

struct call_trace_work;
struct cpu_sampler;
struct keeper;
struct session;

/* Who has threads take samples, with TRACE_TIMING_SAMPLES. */
enum sample_source {
    SAMPLE_SOURCE_ANY,  /* perf where the kernel allows it, and the threads' timers */
    SAMPLE_SOURCE_PERF, /* as ANY, and a message where the kernel does not allow perf */
    SAMPLE_SOURCE_TIMER,
};

/* How it records. Strings are the caller's. */
struct recorder_settings {
    const char *trace_dir;
    uint32_t node_limit; /* calling contexts a thread may have before they fold */
    uint32_t slices;     /* 0: none are taken */
    uint32_t samples;    /* in a second of a thread's processor time; 0: none are taken */
    enum sample_source sample_source;
    uint64_t max_trace_size; /* a multiple of TRACE_BLOCK_SIZE */
    bool records_events;     /* call-trace mode */
    struct event_policy events;
    enum trace_timing timing;
    bool is_paused;       /* sessions begin so, until recording is resumed */
    bool is_verbose;      /* a message when a session begins and when it ends */
    const char *log_file; /* that messages go to; null: standard error */
};

struct recorder {
    const struct recorder_settings *settings;
    struct event_loop *loop;
    struct tick_clock clock;
    uint64_t tick; /* the last one told to the processes: ticker.h */
    struct event_timer tick_timer;
    struct event_timer sweep_timer; /* for processes whose end no descriptor tells */
    int64_t sweep_pause_ms;
    struct event_timer signals_timer; /* own_samples.h */
    int64_t signals_pause_ms;
    struct trace_dir trace_dir;
    struct trace_dir *adopted_dirs; /* of sessions that were another service's */
    struct keeper *keeper;          /* null: none, as on Windows */
    struct cost_table costs;

    struct session *sessions;
    unsigned running; /* sessions in the list */

    /* Since the start. */
    unsigned last_session;
    unsigned ended;
    unsigned crashes;     /* programs that died of a signal that nobody sent */
    unsigned lost;        /* programs whose trace could not be made or handed over */
    uint64_t ended_bytes; /* of the traces that are complete */
    struct ended_list ended_list;

    bool is_paused;                     /* sessions that begin now begin so */
    struct call_trace_work *call_trace; /* null until a session needs it */

    struct cpu_sampler *sampler; /* null: no session has samples */
    struct failure no_samples;   /* why, then */
};

/* The running session with the lowest number from first on; null if there is none. */
const struct session *recorder_find(const struct recorder *recorder, uint32_t first);

unsigned recorder_running_by_tcp(const struct recorder *recorder);

/* Sessions that are sampled now. */
unsigned recorder_sampled(const struct recorder *recorder);

/* Bytes in use in the traces of running processes. */
uint64_t recorder_running_bytes(const struct recorder *recorder);

/*
 * Sees to it that the traces that were completed are on the disk, so that a power failure does not
 * take them. Returns false, errno set, if that failed.
 */
bool recorder_sync(const struct recorder *recorder);

#endif
