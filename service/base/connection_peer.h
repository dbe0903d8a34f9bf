/* Who is at the other end of a connection. */
#ifndef UMBRA_SERVICE_CONNECTION_PEER_H
#define UMBRA_SERVICE_CONNECTION_PEER_H

#include <stdint.h>
#include <sys/types.h>

#include "trace/protocol.h"

/* The other end, as the system vouches for it or, on Windows, as a file of ours says. */
struct connection_peer {
    pid_t pid;                            /* 0 if it has none here (another pid namespace) */
    uint32_t uid;                         /* on Windows 0 */
    uint8_t secret[PROTOCOL_SECRET_SIZE]; /* to be shown to it, on Windows */
    uint8_t proof[PROTOCOL_SECRET_SIZE];  /* that it has to show there */
};

#endif
