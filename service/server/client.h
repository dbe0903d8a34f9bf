/* A connection: a program that says hello, or a tool with a question. */
#ifndef UMBRA_SERVICE_CLIENT_H
#define UMBRA_SERVICE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/base/event_loop.h"
#include "trace/protocol.h"

/* A client that has not said what it wants by then is dropped. */
#define CLIENT_TIMEOUT_MS 3000 /* a message says so */

#define CLIENT_NAME_SIZE 32
#define CLIENT_LINE_SIZE 9216 /* of an answer: two paths and some figures */

struct client;
struct service;

/* How it speaks: in packets of a local socket, or over TCP. */
struct client_kind {
    unsigned limit;  /* how many may be there at once */
    bool may_be_any; /* it has not shown yet that it is ours: messages of it are limited */
    void (*ready)(void *client);
    /* One line of an answer, or its end if length is 0. Never waits: what does not fit goes. */
    void (*say)(struct client *client, const char *line, size_t length);
    /* One line of an answer, with a descriptor that remains ours; null where none can be handed
       over. */
    void (*give)(struct client *client, const char *line, int descriptor);
    void (*close)(int connection);
};

struct client {
    struct client *prev, *next; /* utlist */
    struct service *service;
    const struct client_kind *kind;
    struct event_source source;  /* fd negative when the connection was given away */
    char name[CLIENT_NAME_SIZE]; /* for messages */
    int pid;                     /* 0 if it is not known */
    struct event_timer timer;    /* when to drop it */
    bool awaits_the_end;         /* client_wait_for_end */

    /* What has come of a hello over TCP; one byte more shows that there was too much. */
    size_t have;
    bool was_shown_proof;
    union {
        struct protocol_tcp_hello hello;
        unsigned char bytes[sizeof(struct protocol_tcp_hello) + 1];
    } tcp;
};

/*
 * Takes over a connection. If there are as many of its kind as may be, the one that has waited
 * longest is dropped. Returns null, the connection closed, if there is no memory.
 */
struct client *client_begin(struct service *service, const struct client_kind *kind, int connection,
                            const char *name);

/* Closes the connection and frees the client. */
void client_end(struct client *client);

/* Ends the client, but the connection is the caller's, and no more watched. */
int client_give_away(struct client *client);

/* Says in one message what is wrong with the client. Messages about clients that may be anybody are
 * limited in number: strangers must fill neither the screen nor the disk. */
void client_refuse(struct client *client, const char *verb, const char *why);

/* Sends one line of an answer, or its end if format is null. */
void client_send(struct client *client, const char *format, ...)
    __attribute__((format(SERVICE_PRINTF, 2, 3)));

/* The client asked the service to stop: it is not dropped, and is answered when that is done. */
void client_wait_for_end(struct client *client);

#endif
