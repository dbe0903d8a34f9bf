/* Where a service listens; protocol.h has the rendezvous file. */
#ifndef UMBRA_HOOKS_WINDOWS_RENDEZVOUS_H
#define UMBRA_HOOKS_WINDOWS_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/protocol.h"

struct rendezvous {
    uint16_t port;
    uint8_t secret[PROTOCOL_SECRET_SIZE]; /* to be shown to the service */
    uint8_t proof[PROTOCOL_SECRET_SIZE];  /* which it has to show then */
};

/* Calls visit with what each rendezvous file says that is there, until it returns true. Passes
   over files that are not the user's alone, and those of a service that is known to be gone. */
bool rendezvous_each(bool (*visit)(const struct rendezvous *at, void *with), void *with);

#endif
