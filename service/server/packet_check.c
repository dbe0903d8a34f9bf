#include "service/server/packet_check.h"

#include "service/server/answers.h"

static bool has_command_size(const union packet *packet, size_t size, const struct answer *answer)
{
    if (!answer->is_of_change)
        return size == sizeof(packet->command);
    return size >= PROTOCOL_CHANGE_SIZE(0) && packet->change.count <= PROTOCOL_CHANGE_MOST &&
           size == PROTOCOL_CHANGE_SIZE(packet->change.count);
}

enum packet_state packet_check(const union packet *packet, size_t size, struct failure *failure)
{
    const struct message_start *start = &packet->start;
    const struct answer *answer = size < sizeof(*start) ? NULL : answer_find(start->kind);

    if (size < sizeof(*start) || start->magic != PROTOCOL_MAGIC)
        fail_because(failure, "expected a message of Umbra, found something else");
    else if (start->version != PROTOCOL_VERSION)
        fail_because(failure, "expected protocol version %d, found %u: instrument it again",
                     PROTOCOL_VERSION, start->version);
    else if (start->kind == PROTOCOL_HELLO && size == sizeof(packet->hello))
        return PACKET_HELLO;
    else if (answer && has_command_size(packet, size, answer))
        return PACKET_COMMAND;
    else
        fail_because(failure, "found a message of kind %u with %zu bytes: unknown", start->kind,
                     size);
    return PACKET_WRONG;
}
