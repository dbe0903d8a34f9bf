/* How sessions begin and end. */
#ifndef UMBRA_SERVICE_SESSION_LIFE_H
#define UMBRA_SERVICE_SESSION_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/base/process.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"

/* What is known of a process that says hello. */
struct session_process {
    pid_t pid; /* as its own system counts */
    uint32_t fork_of_pid;
    uint64_t agent; /* cost_table.h: its hash; 0: measures for itself */
    enum trace_system system;
    struct process_description description;
    bool is_tcp;
    int watch; /* as process_watch returned it; the session's from session_begin on */
};

/*
 * Makes a trace for a process. If the same process had one before it executed another program, that
 * one is completed. Returns null after one message.
 */
struct session *session_begin(struct recorder *recorder, const struct session_process *process);

/* From here on, the session ends with that connection, which it owns. */
void session_watch(struct session *session, int connection);

/*
 * Goes on with what an earlier service of the instance at socket_path left to its keeper. Their
 * programs run, and may be paused; they have no samples and no slices, and events are kept in their
 * ring alone.
 */
void session_adopt_all(struct recorder *recorder, const char *socket_path);
void session_free_adopted(struct recorder *recorder); /* when they are over */

/* Its process records or does not from here on. Returns false after one message. */
bool session_pause(struct session *session, bool is_paused);

/* Its process runs on and is not recorded any more: its trace is complete. */
void session_detach(struct session *session);

/* Undoes session_begin, when the process never got the trace. */
void session_discard(struct session *session);

/*
 * Completes the traces of processes that are gone. With leave_running, ends the other sessions as
 * well and says so. Native programs are the keeper's from then on, and recorded even if they are
 * paused. The files of Windows programs stay as long as they are, since cutting a file below a
 * process that writes to its mapping kills that process.
 *
 * A running event loop does it by itself where no descriptor tells of the end of a process.
 */
void session_sweep(struct recorder *recorder, bool leave_running);

/*
 * A process that came by TCP is gone a moment before its connection and its mapping are. Waits for
 * that up to a second: for those whose connection has ended or, with all, for all of them.
 */
void session_settle(struct recorder *recorder, bool all);

#endif
