#include "service/server/linux/packet_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/base/linux/packet.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/events/call_trace.h"
#include "service/keeper/keeper.h"
#include "service/server/answers.h"
#include "service/server/client.h"
#include "service/server/packet_check.h"
#include "service/server/service.h"
#include "service/sessions/session_life.h"
#include "service/traces/memory_file.h"
#include "trace/protocol.h"

#define PACKET_CLIENT_LIMIT 256

static void refuse(struct client *client, const char *why)
{
    const struct protocol_welcome refusal = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .kind = PROTOCOL_REFUSED,
    };

    if (why)
        message("refused %s: %s", client->name, why);
    client->service->refused++;
    packet_send(client->source.fd, &refusal, sizeof(refusal), NULL, 0);
    client_end(client);
}

/* A child calls its parent by the number that this has in their namespace. */
static uint32_t parent_of_fork(uint32_t said, pid_t parent)
{
    return said && process_own_number(parent) == said ? (uint32_t)parent : said;
}

static bool describe(struct session_process *process, const struct client *client,
                     const struct protocol_hello *hello)
{
    *process = (struct session_process){
        .pid = client->pid,
        /* A child goes on with what its parent has. */
        .agent = hello->fork_of_pid ? 0 : hello->more[0] | (uint64_t)hello->more[1] << 32,
        .system = TRACE_SYSTEM_LINUX,
        .watch = connection_watch_peer(client->source.fd, client->pid),
    };
    if (process_describe(process->pid, &process->description)) {
        process->fork_of_pid = parent_of_fork(hello->fork_of_pid, process->description.parent);
        return true;
    }
    message("%s is gone before it could be recorded", client->name);
    if (process->watch >= 0)
        close(process->watch);
    return false;
}

/* The welcome, with the trace, the ring if there is one, and the trace for reading alone. */
static bool send_welcome(const struct client *client, const struct session *session,
                         struct protocol_welcome *welcome)
{
    int ring = call_trace_ring(session, &welcome->ring_size);
    int readable = memory_file_readable(session->trace.fd);
    int files[PACKET_DESCRIPTORS], count = 0;
    bool ok;

    files[count++] = session->trace.fd;
    if (ring >= 0)
        files[count++] = ring;
    files[count++] = readable;
    ok = readable >= 0 &&
         packet_send(client->source.fd, welcome, sizeof(*welcome), files, (unsigned)count);
    if (readable >= 0)
        close(readable);
    return ok;
}

static void answer_hello(struct client *client, const struct protocol_hello *hello)
{
    struct service *service = client->service;
    struct session_process process;
    struct session *session;
    struct protocol_welcome welcome = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .kind = PROTOCOL_WELCOME,
        .node_limit = service->recorder.settings->node_limit,
    };

    session =
        describe(&process, client, hello) ? session_begin(&service->recorder, &process) : NULL;
    if (!session) {
        refuse(client, NULL);
        return;
    }
    welcome.capacity = session->trace.capacity;
    keeper_hold(service->recorder.keeper, session);
    if (!send_welcome(client, session, &welcome)) {
        if (errno == EPIPE || errno == ECONNRESET)
            message("%s ended before its recording began", client->name);
        else
            message("%s was not sent its recording: %s", client->name, strerror(errno));
        session_discard(session);
        service->refused++;
    }
    client_end(client);
}

static void answer(struct client *client, const union packet *packet, size_t size)
{
    struct failure failure;

    switch (packet_check(packet, size, &failure)) {
    case PACKET_HELLO:
        answer_hello(client, &packet->hello);
        break;
    case PACKET_COMMAND:
        answer_give(client, &packet->command);
        break;
    case PACKET_WRONG:
        refuse(client, failure.text);
        break;
    }
}

static void client_ready(void *owner)
{
    struct client *client = owner;
    union packet packet = {0};
    ssize_t size = packet_receive(client->source.fd, &packet, sizeof(packet));

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0 || client->awaits_the_end)
        client_end(client);
    else
        answer(client, &packet, (size_t)size);
}

static bool peer_is_welcome(const struct connection_peer *peer)
{
    if (peer->uid != geteuid() && peer->uid != 0) {
        message("refused pid %d: expected user %u, found %u", (int)peer->pid, (unsigned)geteuid(),
                (unsigned)peer->uid);
        return false;
    }
    if (peer->pid <= 0) {
        message("refused a process of another pid namespace: start a service there");
        return false;
    }
    return true;
}

static void say(struct client *client, const char *line, size_t length)
{
    packet_send(client->source.fd, line, length, NULL, 0);
}

static void give(struct client *client, const char *line, int descriptor)
{
    packet_send(client->source.fd, line, strlen(line), &descriptor, 1);
}

static void close_connection(int connection)
{
    close(connection);
}

static const struct client_kind kind = {
    .limit = PACKET_CLIENT_LIMIT,
    .ready = client_ready,
    .say = say,
    .give = give,
    .close = close_connection,
};

void packet_client_begin(struct service *service, int connection,
                         const struct connection_peer *peer)
{
    char name[CLIENT_NAME_SIZE];
    struct client *client;

    if (!peer_is_welcome(peer)) {
        service->refused++;
        close(connection);
        return;
    }
    snprintf(name, sizeof(name), "pid %d", (int)peer->pid);
    client = client_begin(service, &kind, connection, name);
    if (client)
        client->pid = (int)peer->pid;
}
