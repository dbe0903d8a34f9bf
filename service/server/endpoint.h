/*
 * Where programs and tools find an instance of the service: trace/protocol.h says the path.
 *
 *      …                       ours or root's; who else may write to it can rename nothing (sticky)
 *      DIR                     mode 0700 (Windows: a DACL of one entry), ours, no symbolic link
 *        INSTANCE.lock         held (flock; Windows: open, removed with its holder) by the service
 *                              as long as it lives; its pid
 *        INSTANCE.socket       replaced by whoever holds the lock; not on Windows
 *        INSTANCE.rendezvous   replaced by whoever holds the lock
 *
 * A listener for INSTANCE.socket may also be inherited, as sd_listen_fds(3) says: descriptor 3,
 * LISTEN_PID our pid, LISTEN_FDS 1. It is not removed then, and connections that were made before
 * the service began are answered.
 *
 * Who has the lock may remove both: that a socket lies there does not mean that it is served.
 */
#ifndef UMBRA_SERVICE_ENDPOINT_H
#define UMBRA_SERVICE_ENDPOINT_H

#include <stdbool.h>

#include "service/server/connection.h"
#include "trace/protocol.h"

#define ENDPOINT_PATH_SIZE 1024

struct endpoint {
    int lock;
    int listener;      /* can be read when somebody connects */
    int spare;         /* given up for a moment when there is no other descriptor left */
    bool is_inherited; /* the listener was handed to us (systemd), and is not ours to remove */
    bool said_no_descriptor; /* left, until there was one again */
    char socket_path[PROTOCOL_PATH_SIZE];
    char lock_path[ENDPOINT_PATH_SIZE];
    char rendezvous_path[ENDPOINT_PATH_SIZE]; /* tcp_endpoint.h; while the lock is held, ours */
};

/* Begins to accept connections. Returns false after one message. */
bool endpoint_open(struct endpoint *endpoint, const char *instance);

/* Begins to accept connections with the listener of an earlier service of the instance, which
   endpoint_hand_on has returned: who has connected meanwhile is served. -1: there is none. Returns
   false after one message. */
bool endpoint_take_over(struct endpoint *endpoint, const char *instance, int listener);

/* The listener, for the next service: endpoint_close leaves it and its socket as they are. -1: it
   cannot be handed on. */
int endpoint_hand_on(struct endpoint *endpoint);

/* Removes socket and lock, in this order. Connections stay open. */
void endpoint_close(struct endpoint *endpoint);

/*
 * Where there are local sockets, that is on Linux:
 * takes a connection of a listener, the endpoint's own or one beside it; the caller closes it. Never
 * waits on it later on. Returns -1 if there is none; when descriptors have run out, the connection is
 * closed at once and -1 returned.
 */
int endpoint_accept(struct endpoint *endpoint, int listener, struct connection_peer *peer);

/*
 * The client's side. patience_s is how long connection_receive_line waits, 0 for ever. Returns -1,
 * errno set: ENOENT or ECONNREFUSED if the instance is not served; EPERM, after one message, if
 * what was found is another user's.
 */
int endpoint_connect(const char *instance, unsigned patience_s, struct connection_peer *peer);

#endif
