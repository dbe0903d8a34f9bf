/* The tool's side of a connection to a running service; linux/packet.h has the service's. */
#ifndef UMBRA_SERVICE_CONNECTION_H
#define UMBRA_SERVICE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/protocol.h"

/* The other end: as the system vouches for it or, on Windows, as a file of ours says. */
struct connection_peer {
    pid_t pid;                            /* 0 if it has none here (another pid namespace) */
    uint32_t uid;                         /* on Windows 0 */
    uint8_t secret[PROTOCOL_SECRET_SIZE]; /* to be shown to it, on Windows */
};

/* As process_watch, of the process that connected, even if its pid was given away since. */
int connection_watch_peer(int connection, pid_t pid);

/* Sends a command; magic and version are filled in. */
bool connection_ask(int connection, const struct connection_peer *service,
                    const struct protocol_command *command);

/*
 * Returns the length of the next line of the answer, which is stored without an end and cut to
 * size; 0 where the answer ends; -1, errno set: EPROTO if the service is of another version,
 * ECONNRESET if it is gone.
 */
ssize_t connection_receive_line(int connection, char *line, size_t size);

void connection_close(int connection);

#endif
