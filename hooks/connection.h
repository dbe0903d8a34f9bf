/* The agent's one conversation with the service; protocol.h has the packets. */
#ifndef UMBRA_HOOKS_CONNECTION_H
#define UMBRA_HOOKS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/protocol.h"

/*
 * Says hello and maps the trace that comes back, read and write, shared. Waits a second at most
 * for a service that does not answer. All descriptors are closed again. Null: no service, refused,
 * or the address space has no room; nothing is left behind.
 */
char *connection_open(char *const *environment, uint32_t fork_of_pid,
                      struct protocol_welcome *welcome);

#endif
