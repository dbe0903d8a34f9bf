/*
 * The rendezvous file, through which those who speak TCP find a service and are let in:
 * trace/protocol.h draws it.
 */
#ifndef UMBRA_SERVICE_RENDEZVOUS_H
#define UMBRA_SERVICE_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/protocol.h"

#define RENDEZVOUS_TEXT_SIZE 96

struct rendezvous {
    uint16_t port;
    uint8_t secret[PROTOCOL_SECRET_SIZE]; /* shown to the service */
    uint8_t proof[PROTOCOL_SECRET_SIZE];  /* shown by it, to who has shown the secret */
};

/* Writes the line, zero-terminated, and returns its length. */
size_t rendezvous_print(char text[RENDEZVOUS_TEXT_SIZE], const struct rendezvous *rendezvous);

/* Reads such a line and nothing else. Returns false if it is anything else. */
bool rendezvous_parse(struct rendezvous *rendezvous, const char *text, size_t length);

/* Takes as long for any two secrets. */
bool rendezvous_secret_is(const uint8_t expected[PROTOCOL_SECRET_SIZE],
                          const uint8_t given[PROTOCOL_SECRET_SIZE]);

/* The file. Both return false, errno set (EPROTO: it holds something else). */
bool rendezvous_write(const char *path, const struct rendezvous *rendezvous);
bool rendezvous_read(const char *path, struct rendezvous *rendezvous);

#endif
