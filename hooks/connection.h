/* The agent's one conversation with the service, and the trace it gets; protocol.h has the packets.
 */
#ifndef UMBRA_HOOKS_CONNECTION_H
#define UMBRA_HOOKS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/protocol.h"

/* Of a trace's front that is mapped; the program is to have the rest: 256 MB of 4 GB. */
#define CONNECTION_MOST_ADDRESSES (UINTPTR_MAX / 16)

/* What came with the welcome, mapped read and write, shared. */
struct connection_maps {
    char *trace;      /* on Linux no child made by fork gets it */
    const void *page; /* its first page once more: on Linux it can only be read, by children too */
    void *ring;       /* of welcome.ring_size bytes; null if there is none, or no room for it */
};

/*
 * Says hello and maps the trace that comes back, and the ring of call-trace mode. Waits a second at
 * most for a service that does not answer, and not at all for one that is not to be trusted.
 * environment: null where the system has it (Windows). On Linux all descriptors are closed again.
 * No trace: no service, refused, or the address space has no room; nothing is left behind.
 */
struct connection_maps connection_open(char *const *environment, uint32_t fork_of_pid,
                                       struct protocol_welcome *welcome);

/*
 * To be called before the first use of a part of the trace or the ring. The system has to find
 * memory for it now (on Windows, room on the disk); without this, the program would fault later.
 * The 8 bytes at `at` of each page may change meanwhile, and are 0 in the end: readers pass over
 * them, since the process may be killed in between. False: this part cannot be used.
 */
bool connection_claim(void *part, uint64_t size, uint32_t at);
/* The same for a part that others do not follow. */
bool connection_claim_apart(void *part, uint64_t size, uint32_t at);

/* In a fork's child: the trace or the ring, null for none, was the parent's, and is not here. */
void connection_forget(const void *pages, uint64_t size);

#endif
