/*
 * The sessions of a service, as `list` shows them: those that run, and the last that ended.
 *
 *      text, by tabs:  number  pid  name  began  state  bytes  trace
 *      JSON:           {"session":1,"pid":4711,"name":"app","began":"2026-11-21T14:03:07Z",
 *                       "state":"running","bytes":81920,"trace":"/home/me/traces/app-4711-1.bin"}
 *
 * began is UTC. state is one of: running, paused, ended (there is no saying how), exit N, signal N,
 * exec.
 */
#ifndef UMBRA_SERVICE_LIST_H
#define UMBRA_SERVICE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "service/session.h"

#define LIST_ENDED_LIMIT 1000 /* --help says so */
#define LIST_COLUMNS     "session\tpid\tname\tbegan\tstate\tbytes\ttrace"

struct client;
struct service;

/* What is kept of a session that ended. */
struct ended_session {
    uint32_t number;
    pid_t pid;
    uint64_t began_ns;
    uint64_t bytes;
    struct trace_file_end end;
    char trace[TRACE_FILE_NAME_SIZE];
};

/* The oldest one makes room; memory is taken as it is needed, and without any it is left out. */
struct ended_list {
    struct ended_session *sessions; /* a ring of LIST_ENDED_LIMIT */
    uint64_t count;                 /* since the start */
};

void list_keep(struct service *service, const struct session *session, uint64_t bytes,
               const struct trace_file_end *end);
void list_free(struct ended_list *list);

/* Says the sessions from that number on, as many as an answer holds, and its end. */
void list_say(struct client *client, uint32_t first, bool as_json);

/*
 * Sees to it that the traces that were completed are on the disk, so that a power failure does not
 * take them. Returns false, errno set, if that failed.
 */
bool list_sync(const struct service *service);

#endif
