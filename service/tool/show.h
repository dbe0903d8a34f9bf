/* Prints what a service answers (tool/table.h): sentences for people, or JSON. */
#ifndef UMBRA_SERVICE_SHOW_H
#define UMBRA_SERVICE_SHOW_H

#include <stdbool.h>

#include "service/tool/table.h"

#define SHOW_LIST_COLUMNS "session\tpid\tname\tbegan\tstate\tbytes\ttrace"

enum show_list_field {
    SHOW_LIST_NUMBER,
    SHOW_LIST_PID,
    SHOW_LIST_NAME,
    SHOW_LIST_BEGAN,
    SHOW_LIST_STATE,
    SHOW_LIST_BYTES,
    SHOW_LIST_TRACE,
};

void show_status(const struct table *answer, bool as_json);
void show_stop(const struct table *answer);

/* is_pause: else it was resumed. */
void show_pause(const struct table *answer, bool is_pause);

/*
 * The sessions, one a line; in columns on a terminal, else by tabs. As JSON:
 *
 *      [
 *      {"session":1,"pid":4711,"name":"app","began":"2026-11-21T14:03:07Z",
 *       "state":"running","bytes":81920,"trace":"/home/me/traces/app-4711-1.bin"}
 *      ]
 */
void show_list(struct table *sessions, bool as_json);

#endif
