/* Whole packets over a local socket, from either end, and a descriptor with one of them. */
#ifndef UMBRA_SERVICE_LINUX_PACKET_H
#define UMBRA_SERVICE_LINUX_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "service/base/connection_peer.h"

bool packet_read_peer(int connection, struct connection_peer *peer);

#define PACKET_DESCRIPTORS 3 /* at most */

/*
 * Sends a packet, with `count` descriptors. Never waits. The buffer of a connection that was not
 * used before has room for some 160 packets.
 */
bool packet_send(int connection, const void *bytes, size_t size, const int *descriptors,
                 unsigned count);

/*
 * Returns the true length of the next packet, of which at most size bytes were stored; 0 for an
 * empty one or when the other end has closed; -1, errno set. Waits only in a connection that
 * endpoint_connect made. A descriptor that came with the packet is not received.
 */
ssize_t packet_receive(int connection, void *bytes, size_t size);

/* Returns as packet_receive does, and *descriptor becomes the one that came with the packet, or -1.
   */
ssize_t packet_receive_descriptor(int connection, void *bytes, size_t size, int *descriptor);

#endif
