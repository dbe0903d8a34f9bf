/* A client at the local socket: whole packets, and the system says who it is. */
#ifndef UMBRA_SERVICE_LINUX_PACKET_CLIENT_H
#define UMBRA_SERVICE_LINUX_PACKET_CLIENT_H

#include "service/server/connection.h"

struct service;

/* Takes over a connection that was accepted, and closes it at once if its peer has no business. */
void packet_client_begin(struct service *service, int connection,
                         const struct connection_peer *peer);

#endif
