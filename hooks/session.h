/*
 * The recording session of this process: the mapped trace, and whether anything is recorded.
 *
 *      off  ->  running  ->  closed (at exit)
 *                  |
 *                fork: the child's first hook begins a session of its own
 */
#ifndef UMBRA_HOOKS_SESSION_H
#define UMBRA_HOOKS_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/ticks.h"
#include "trace/event_format.h"
#include "trace/trace_format.h"

enum session_state { SESSION_OFF, SESSION_RUNNING, SESSION_CLOSED };

/* What a recorded call costs, as trace_header has it. */
struct probe_costs {
    uint32_t inner, timed, untimed, passed;
};

struct session {
    enum session_state state;
    uint32_t number; /* 1 for the first of this process, + 1 at each fork */
    uint32_t pid;
    uint32_t node_limit;             /* nodes a thread */
    char *trace;                     /* the mapped trace; null while off */
    struct trace_header *header;     /* its first bytes; null while off */
    const struct trace_header *page; /* the header as children have it, too (hook_word_place) */
    uint64_t capacity;
    struct event_ring *ring; /* call-trace mode: mapped; else null */
    uint64_t ring_size;
    uint32_t ring_segments;
    bool has_events;  /* call-trace mode */
    bool is_adaptive; /* how calls are timed, as below; the same for all sessions of a process */
    bool counts_only; /* as with adaptive timing, but none is timed */
    bool is_sampled;  /* counts_only, and threads take samples (sampler.h) */
    struct probe_costs costs;
};

extern struct session session __attribute__((visibility("hidden")));

/* 1 where calls that begin now are to be passed: the trace's word, which the service writes, or, of
   a session that is not running, a constant. Slow paths look at it. */
extern const uint32_t *session_paused __attribute__((visibility("hidden")));

/* Connects to the service and maps the trace. False: no service; state is OFF.
   fork_of_pid: 0, or the recording process that this one is a copy of. */
bool session_begin(char *const *environment, uint32_t fork_of_pid);

/* In a fork's child, under the guard: leaves the parent's trace alone and begins anew. */
void session_begin_in_child(void);

/* From here on calls are passed: OFF or CLOSED. */
void session_leave(enum session_state state);

/* Notes what was calibrated, in the trace too, where the service may take it for other programs. */
void session_set_costs(const struct probe_costs *costs);

/* The entry hook that suits the session, for all its images. */
void *session_entry_hook(void);

/* From here on, stashes begin with the exit hook that suits the session. */
void session_choose_exit_hook(void);

/* Are calls to be passed, since the service has asked for it or none is there? */
static inline bool session_is_paused(void)
{
    return __atomic_load_n(session_paused, __ATOMIC_RELAXED);
}

/* The trace's tick where calls are only counted. No service has written such a one. */
#define TICK_THAT_STANDS (TRACE_TICK_FLAG | 1)

/* The clock of the threads' times. Where calls are only counted it is not read, and stands: what
   begins now is at the trace's tick, and so is not timed. */
static inline uint64_t session_ticks(void)
{
    return session.counts_only ? TICK_THAT_STANDS : ticks_now();
}

/* Converts a span of time, not a date. */
static inline uint64_t session_ticks_of_ns(uint64_t ns)
{
    return ns * (session.header->ticks_per_second / 1000) / 1000000;
}

/* Marks the trace as ended. */
void session_end(void);

/* A block of the trace, of this kind, unit 0 filled in but for `kind`, which the caller stores
   when it is ready (block_commit). Null: the trace is full, or the disk. */
struct trace_block *session_block(uint32_t thread);
/* The same for cover, which children of the process will have, and nothing else of the trace. */
struct trace_block *session_cover_blocks(uint32_t count);
void block_commit(struct trace_block *block, enum trace_block_kind kind);

/* The program is about to forbid itself the calls that make blocks usable: some are made so now, and
   are handed out when that fails. */
void session_get_ready(void);

uint32_t trace_index(const void *unit);

#endif
