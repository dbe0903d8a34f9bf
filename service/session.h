/* A process that is being recorded, from its hello until it is gone. */
#ifndef UMBRA_SERVICE_SESSION_H
#define UMBRA_SERVICE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/event_loop.h"
#include "service/process.h"
#include "service/trace_file.h"

struct call_trace;
struct service;
struct samples;
struct slices;

/* What is known of a process that says hello. */
struct session_process {
    pid_t pid; /* as its own system counts */
    uint32_t fork_of_pid;
    enum trace_system system;
    struct process_description description;
    bool by_tcp;
    int watch; /* as process_watch returned it; the session's from session_begin on */
};

struct session {
    struct session *prev, *next; /* utlist */
    struct service *service;
    struct event_source
        source;  /* its process, or its connection; fd negative where there is none */
    bool by_tcp; /* the end of its connection is its process's */
    pid_t pid;
    uint32_t number;
    int64_t began_ms;
    uint64_t began_ns; /* since 1970 */
    bool paused;
    struct trace_file trace;
    struct call_trace *events; /* null unless it is in call-trace mode */
    struct slices *slices;     /* null if it has none */
    struct samples *samples;   /* likewise */
};

/*
 * Makes a trace for a process. If the same process had one before it executed another program, that
 * one is completed. Returns null after one message.
 */
struct session *session_begin(struct service *service, const struct session_process *process);

/* From here on, the session ends with that connection, which it owns. */
void session_watch(struct session *session, int connection);

/* Writes the path of its trace. Returns false if there is no room for it. */
bool session_path(const struct session *session, char *path, size_t size);

/* Likewise, of the file beside it with that suffix instead of ".bin". */
bool session_path_beside(const struct session *session, const char *suffix, char *path,
                         size_t size);

/* Undoes session_begin, when the process never got the trace. */
void session_discard(struct session *session);

/*
 * Completes the traces of processes that are gone. With leave_running, ends the other sessions as
 * well and says so: their traces stay as long as they are, since cutting a file below a process
 * that writes to its mapping kills that process.
 */
void session_sweep(struct service *service, bool leave_running);

/* True if there are processes that only session_sweep can find gone. */
bool session_needs_sweep(const struct service *service);

/*
 * Tells the processes that want it the time, if it is due: each millisecond, with many of them less
 * often. Returns the milliseconds until it wants to be called again, at most limit; -1 is no limit.
 */
int session_tick(struct service *service, int limit);

/*
 * A process that came by TCP is gone a moment before its connection and its mapping are. Waits for
 * that up to a second: for those whose connection has ended or, with all, for all of them.
 */
void session_settle(struct service *service, bool all);

unsigned session_running_by_tcp(const struct service *service);

/* Bytes in use in its trace. */
uint64_t session_bytes(const struct session *session);

/* Bytes in use in the traces of running processes. */
uint64_t session_running_bytes(const struct service *service);

#endif
