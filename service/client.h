/* A connection: a program that says hello, or a tool with a question. */
#ifndef UMBRA_SERVICE_CLIENT_H
#define UMBRA_SERVICE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/event_loop.h"
#include "trace/protocol.h"

/* A client that has not said what it wants by then is dropped. */
#define CLIENT_TIMEOUT_MS 3000 /* client_drop_idle says so */

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
    void (*close)(int connection);
};

struct client {
    struct client *prev, *next; /* utlist */
    struct service *service;
    const struct client_kind *kind;
    struct event_source source;  /* fd negative when the connection was given away */
    char name[CLIENT_NAME_SIZE]; /* for messages */
    int pid;                     /* 0 if it is not known */
    int64_t due_ms;              /* when to drop it */
    bool awaits_the_end;         /* asked to stop the service: it has time, and hears the end */

    /* What has come of a hello over TCP; one byte more shows that there was too much. */
    size_t have;
    union {
        struct protocol_tcp_hello hello;
        unsigned char bytes[sizeof(struct protocol_tcp_hello) + 1];
    } tcp;
};

/*
 * Takes over a connection. Whoever comes when the house is full takes the place of the one of its
 * kind who has waited longest. Returns null, the connection closed, if there is no memory.
 */
struct client *client_begin(struct service *service, const struct client_kind *kind, int connection,
                            const char *name);

/* Closes the connection and frees the client. */
void client_end(struct client *client);

/* Ends the client, but the connection is the caller's, and no more watched. */
int client_give_away(struct client *client);

/* One message of what is wrong with it; for those who may be anybody, as long as they are few: what
 * strangers do may fill neither the screen nor the disk. */
void client_complain(struct client *client, const char *verb, const char *why);

/* Drops the clients that are due. Returns in how many milliseconds the next one is; -1: none. */
int client_drop_idle(struct service *service);

/* Sends one line of an answer, or its end if format is null. */
void client_say(struct client *client, const char *format, ...)
    __attribute__((format(SERVICE_PRINTF, 2, 3)));

bool client_is_command(uint32_t kind);

/* Ends the client; of PROTOCOL_COMMAND_STOP, when the service ends. */
void client_answer(struct client *client, const struct protocol_command *command);

#endif
