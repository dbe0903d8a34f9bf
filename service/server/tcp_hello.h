/*
 * The first thing that comes over TCP, as far as it has come. Nothing in it is believed before the
 * secret was right.
 *
 *      0         32       48     52           64        1088              3136
 *      | hello   | secret | ppid | reserved   | exe     | command         |
 *      |<- the same in all versions ->|<- read when the version is ours -->|
 */
#ifndef UMBRA_SERVICE_TCP_HELLO_H
#define UMBRA_SERVICE_TCP_HELLO_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/protocol.h"

enum tcp_hello_state {
    TCP_HELLO_MORE,          /* good so far */
    TCP_HELLO_WHOLE,         /* the strings are terminated, and UTF-8 without control characters */
    TCP_HELLO_NOT_OURS,      /* no such message: to be closed without an answer */
    TCP_HELLO_WRONG_SECRET,  /* to be closed without an answer */
    TCP_HELLO_OTHER_VERSION, /* to be refused */
    TCP_HELLO_TOO_LONG,      /* to be refused: more came than a hello has */
    TCP_HELLO_MALFORMED,     /* to be refused: a string has no end, or the kind is unknown */
};

/*
 * Judges the first `have` bytes, which may be one more than a hello has. What is not UTF-8 or
 * would act on a terminal becomes '?'.
 */
enum tcp_hello_state tcp_hello_check(struct protocol_tcp_hello *hello, size_t have,
                                     const uint8_t secret[PROTOCOL_SECRET_SIZE]);

/* Has the secret come by then, and was it right? The proof may be shown. */
bool tcp_hello_shows_secret(enum tcp_hello_state state, size_t have);

#endif
