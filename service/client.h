/* A connection: a program that says hello, or a tool with a question. */
#ifndef UMBRA_SERVICE_CLIENT_H
#define UMBRA_SERVICE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "service/connection.h"
#include "service/event_loop.h"

/* A client that has not said what it wants by then is dropped. */
#define CLIENT_TIMEOUT_MS 3000

struct service;

struct client {
    struct client *prev, *next; /* utlist */
    struct service *service;
    struct event_source source;
    struct connection_peer peer;
    int64_t due_ms;      /* when to drop it */
    bool awaits_the_end; /* asked to stop the service: it has time, and hears the last word */
};

/* Takes over a connection that was accepted, and closes it at once if its peer has no business. */
void client_begin(struct service *service, int connection, const struct connection_peer *peer);

/* Closes the connection and frees the client. */
void client_end(struct client *client);

/* Drops the clients that are due. Returns in how many milliseconds the next one is; -1: none. */
int client_drop_idle(struct service *service);

/* Sends one line of an answer, or its end if format is null. Never waits: what does not fit goes.
 */
void client_say(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
