#include "service/server/connection.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "service/base/process.h"
#include "service/base/tcp.h"
#include "service/server/rendezvous.h"

int connection_watch_peer(int connection, pid_t pid)
{
    (void)connection; /* the service holds its lock file, in which its pid stands, until its end */
    return process_watch(pid);
}

static bool shows_proof(int connection, const uint8_t proof[PROTOCOL_SECRET_SIZE])
{
    uint8_t shown[PROTOCOL_SECRET_SIZE];
    size_t have = 0;

    while (have < sizeof(shown)) {
        ssize_t got = tcp_receive(connection, shown + have, sizeof(shown) - have);

        if (got == 0)
            errno = ECONNRESET;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    errno = EPERM;
    return rendezvous_secret_is(proof, shown);
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
                .more = {0, command->session, command->pid},
            },
    };

    memcpy(hello.secret, service->secret, sizeof(hello.secret));
    return tcp_send(connection, &hello, PROTOCOL_TCP_OPENING) &&
           shows_proof(connection, service->proof) &&
           tcp_send(connection, (char *)&hello + PROTOCOL_TCP_OPENING,
                    sizeof(hello) - PROTOCOL_TCP_OPENING);
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

int connection_receive_trace(int connection, char *name, size_t size)
{
    (void)connection;
    (void)name;
    (void)size;
    errno = ENOSYS;
    return -1;
}

void connection_close(int connection)
{
    tcp_close(connection);
}
