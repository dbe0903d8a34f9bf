#include "service/server/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/base/linux/packet.h"
#include "service/base/process.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

int connection_watch_peer(int connection, pid_t pid)
{
    int watch;
    socklen_t size = sizeof(watch);

    if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &watch, &size) == 0)
        return watch;
    return process_watch(pid);
}

bool connection_ask(int connection, const struct connection_peer *service,
                    const struct protocol_command *command)
{
    struct protocol_command packet = *command;

    (void)service; /* it knows us by our socket */
    packet.magic = PROTOCOL_MAGIC;
    packet.version = PROTOCOL_VERSION;
    return packet_send(connection, &packet, sizeof(packet), NULL, 0);
}

bool connection_ask_change(int connection, const struct protocol_change *change)
{
    struct protocol_change packet = *change;

    packet.command.magic = PROTOCOL_MAGIC;
    packet.command.version = PROTOCOL_VERSION;
    return packet_send(connection, &packet, PROTOCOL_CHANGE_SIZE(packet.count), NULL, 0);
}

/* A refusal is no text: it comes from a service of another version. */
static bool is_refusal(const char *packet, ssize_t length)
{
    struct protocol_welcome refusal;

    if (length != sizeof(refusal))
        return false;
    memcpy(&refusal, packet, sizeof(refusal));
    return refusal.magic == PROTOCOL_MAGIC && refusal.kind == PROTOCOL_REFUSED;
}

ssize_t connection_receive_line(int connection, char *line, size_t size)
{
    ssize_t length = packet_receive(connection, line, size);

    if (!is_refusal(line, length))
        return length < (ssize_t)size ? length : (ssize_t)size;
    errno = EPROTO;
    return -1;
}

int connection_receive_trace(int connection, char *name, size_t size)
{
    int trace;
    ssize_t length = packet_receive_descriptor(connection, name, size - 1, &trace);

    if (length > 0 && is_refusal(name, length))
        errno = EPROTO;
    else if (length == 0 || (length > 0 && trace < 0))
        errno = ENOENT;
    name[length > 0 && length < (ssize_t)size ? length : 0] = 0;
    return trace;
}

void connection_close(int connection)
{
    close(connection);
}
