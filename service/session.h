/* A process that is being recorded, from its hello until it is gone. */
#ifndef UMBRA_SERVICE_SESSION_H
#define UMBRA_SERVICE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/event_loop.h"
#include "service/trace_file.h"

struct protocol_hello;
struct service;

struct session {
    struct session *prev, *next; /* utlist */
    struct service *service;
    struct event_source source; /* its process; fd negative where it cannot be watched */
    pid_t pid;
    uint32_t number;
    int64_t began_ms;
    struct trace_file trace;
};

/*
 * Makes a trace for the process at the other end of the connection. If the same process had one
 * before it executed another program, that one is completed. Returns null after one message.
 */
struct session *session_begin(struct service *service, int connection, pid_t pid,
                              const struct protocol_hello *hello);

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

/* Whether any of the processes recorded wants to be told the time about once a millisecond. */
bool session_needs_ticks(const struct service *service);
/* Tells them, unless that was just done. */
void session_tick(struct service *service);

/* Bytes in use in the traces of running processes. */
uint64_t session_running_bytes(const struct service *service);

#endif
