/* One connection, from either end: whole packets, a descriptor with one of them, and who it is. */
#ifndef UMBRA_SERVICE_CONNECTION_H
#define UMBRA_SERVICE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The other end, as the system vouches for it. */
struct connection_peer {
    pid_t pid; /* 0 if it has none here (another pid namespace) */
    uid_t uid;
};

bool connection_read_peer(int connection, struct connection_peer *peer);

/* As process_watch, of the process that connected, even if its pid was given away since. */
int connection_watch_peer(int connection, pid_t pid);

/*
 * Sends a packet, with a descriptor if that is not negative. Never waits. The buffer of a
 * connection that was not used before has room for some 160 packets.
 */
bool connection_send(int connection, const void *bytes, size_t size, int descriptor);

/*
 * Returns the true length of the next packet, of which at most size bytes were stored; 0 for an
 * empty one or when the other end has closed; -1, errno set. Waits only in a connection that
 * endpoint_connect made. A descriptor that came with the packet is not received.
 */
ssize_t connection_receive(int connection, void *bytes, size_t size);

#endif
