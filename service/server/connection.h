/* The tool's side of a connection to a running service; base/linux/packet.h has the service's. */
#ifndef UMBRA_SERVICE_CONNECTION_H
#define UMBRA_SERVICE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/base/connection_peer.h"
#include "trace/protocol.h"

/* Watches as process_watch does, the process that connected, even if its pid was given away since.
   */
int connection_watch_peer(int connection, pid_t pid);

/* Sends a command; magic and version are filled in. Returns false, errno set: EPERM if on Windows
   the other end does not show the proof. */
bool connection_ask(int connection, const struct connection_peer *service,
                    const struct protocol_command *command);

/* The same of HOOK or UNHOOK, on Linux. */
bool connection_ask_change(int connection, const struct protocol_change *change);

/*
 * Returns the length of the next line of the answer, which is stored without an end and cut to
 * size; 0 where the answer ends; -1, errno set: EPROTO if the service is of another version,
 * ECONNRESET if it is gone.
 */
ssize_t connection_receive_line(int connection, char *line, size_t size);

/* Receives the answer to PROTOCOL_COMMAND_OPEN: the descriptor, which is the caller's and stays
   open in what is executed, and its name. Returns -1, errno set: ENOENT if there is none. */
int connection_receive_trace(int connection, char *name, size_t size);

void connection_close(int connection);

#endif
