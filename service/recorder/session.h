/* A process that is being recorded, from its hello until it is gone; session_life.h has both ends.
 */
#ifndef UMBRA_SERVICE_SESSION_H
#define UMBRA_SERVICE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/base/event_loop.h"
#include "service/recorder/cost_table.h"
#include "service/traces/trace_file.h"

struct call_trace;
struct cpu_signals;
struct recorder;
struct samples;
struct slices;

struct session {
    struct session *prev, *next; /* utlist */
    struct recorder *recorder;
    struct trace_dir *directory; /* of its trace */
    struct event_source
        source;  /* its process, or its connection; fd negative where there is none */
    bool is_tcp; /* the end of its connection is its process's */
    pid_t pid;
    uint32_t number;
    int64_t began_ms;
    uint64_t began_ns; /* since 1970 */
    bool is_paused, has_ticks; /* ticker.h */
    struct trace_file trace;
    uint64_t agent;            /* its hash; 0: it takes no costs, nor are its own taken */
    struct costs costs;        /* what was given to it or taken from it last */
    struct call_trace *events; /* null unless it is in call-trace mode */
    struct slices *slices;     /* null if it has none */
    struct samples *samples;   /* null if it has none */
    /* own_samples.h */
    struct cpu_signals *signals; /* null: it is sent none */
    bool takes_samples, has_asked_for_signals;
    uint32_t threads_seen; /* trace_header.thread_count */
    unsigned looks_left;   /* at threads that have none yet */
};

/* Writes the file beside its trace, with that suffix instead of ".bin", or says why it cannot.
   what: its content. bytes: null with errno if there are none. */
void session_write_beside(const struct session *session, const char *suffix, const char *what,
                          const void *bytes, size_t size);

/* Bytes in use in its trace. */
uint64_t session_bytes(const struct session *session);

#endif
