/*
 * What comes over the local socket, a packet at a time. Nothing in it is acted on before it was
 * found here to be a message of ours:
 *
 *      0       4         8      12
 *      | magic | version | kind | …       the same in all versions
 *      | protocol_hello                |  32 bytes, kind PROTOCOL_HELLO
 *      | protocol_command       |         24 bytes, kind PROTOCOL_COMMAND_…
 *      | protocol_change        | … |     32 and 8 for each address, kind PROTOCOL_COMMAND_HOOK or UNHOOK
 */
#ifndef UMBRA_SERVICE_PACKET_CHECK_H
#define UMBRA_SERVICE_PACKET_CHECK_H

#include <stddef.h>

#include "support/failure.h"
#include "trace/protocol.h"

/* What every message begins with, whatever its version. */
struct message_start {
    uint32_t magic;
    uint32_t version;
    uint32_t kind;
};

union packet {
    struct message_start start;
    struct protocol_hello hello;
    struct protocol_command command;
    struct protocol_change change;
};

enum packet_state {
    PACKET_HELLO,
    PACKET_COMMAND,
    PACKET_WRONG, /* to be refused, for the reason in failure */
};

/* Judges a packet of that length, of which as much as it has room for is in *packet. */
enum packet_state packet_check(const union packet *packet, size_t size, struct failure *failure);

#endif
