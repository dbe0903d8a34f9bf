/*
 * Where Windows programs find an instance: a port of 127.0.0.1, and a secret to show there, both in
 * the rendezvous file. Any user of the machine can connect, but only ours can read that file.
 */
#ifndef UMBRA_SERVICE_TCP_ENDPOINT_H
#define UMBRA_SERVICE_TCP_ENDPOINT_H

#include <stdbool.h>

#include "service/server/rendezvous.h"

struct tcp_endpoint {
    int listener;            /* negative if it is not open; can be read when somebody connects */
    int spare;               /* given up for a moment when there is no other descriptor left */
    bool said_no_descriptor; /* left, until there was one again */
    struct rendezvous rendezvous;
    const char *path; /* of the rendezvous file; the caller's */
};

/* Listens, then replaces the file at path. Returns false after one message. */
bool tcp_endpoint_open(struct tcp_endpoint *endpoint, const char *path);

/* Removes the file. Connections stay open. */
void tcp_endpoint_close(struct tcp_endpoint *endpoint);

/* Takes a connection; the caller closes it. Returns -1 if there is none, or no descriptor for it.
 */
int tcp_endpoint_accept(struct tcp_endpoint *endpoint);

#endif
