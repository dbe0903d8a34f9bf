/* What the texts say by which a service is found. */
#ifndef UMBRA_HOOKS_WINDOWS_RENDEZVOUS_TEXT_H
#define UMBRA_HOOKS_WINDOWS_RENDEZVOUS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/protocol.h"

struct rendezvous {
    uint16_t port;
    uint8_t secret[PROTOCOL_SECRET_SIZE]; /* to be shown to the service */
    uint8_t proof[PROTOCOL_SECRET_SIZE];  /* which it has to show then */
};

/* A rendezvous file, as protocol.h draws it. False if it is none. */
bool rendezvous_parse(const char *text, struct rendezvous *at);

/* The user of a process, as Linux says in /proc/PID/status. False if that is not there. */
bool rendezvous_user(const char *status, uint32_t *uid);

#endif
