#include "service/connection.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "service/process.h"
#include "service/tcp.h"

int connection_watch_peer(int connection, pid_t pid)
{
    (void)connection; /* the service holds its lock file, in which its pid stands, until its end */
    return process_watch(pid);
}

bool connection_ask(int connection, const struct connection_peer *service,
                    const struct protocol_command *command)
{
    struct protocol_tcp_hello hello = {
        .hello =
            {
                .magic = PROTOCOL_MAGIC,
                .version = PROTOCOL_VERSION,
                .kind = command->kind,
                .pid = (uint32_t)getpid(),
                .reserved = {command->flags, command->session, command->pid},
            },
    };

    memcpy(hello.secret, service->secret, sizeof(hello.secret));
    return tcp_send(connection, &hello, sizeof(hello));
}

static bool is_refusal(const char *line, size_t length)
{
    uint32_t magic = PROTOCOL_MAGIC;

    return length == sizeof(magic) && !memcmp(line, &magic, sizeof(magic));
}

ssize_t connection_receive_line(int connection, char *line, size_t size)
{
    size_t length = 0;
    char byte;

    for (;;) {
        ssize_t got = tcp_receive(connection, &byte, 1);

        if (got == 0)
            errno = ECONNRESET; /* without the empty line */
        if (got <= 0)
            return -1;
        if (byte == '\n')
            return (ssize_t)length;
        if (length < size)
            line[length++] = byte;
        if (is_refusal(line, length)) {
            errno = EPROTO;
            return -1;
        }
    }
}

void connection_close(int connection)
{
    tcp_close(connection);
}
