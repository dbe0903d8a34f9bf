#include "service/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "service/message.h"
#include "service/service.h"
#include "service/session.h"
#include "trace/protocol.h"

#define LINE_SIZE 1024

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
};

void client_say(struct client *client, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    int length = 0;

    if (format) {
        va_start(arguments, format);
        length = vsnprintf(line, sizeof(line), format, arguments);
        va_end(arguments);
    }
    if (length >= LINE_SIZE)
        length = LINE_SIZE - 1;
    connection_send(client->source.fd, line, length < 0 ? 0 : (size_t)length, -1);
}

static void refuse(struct client *client, const char *why)
{
    const struct protocol_welcome refusal = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .kind = PROTOCOL_REFUSED,
    };

    if (why)
        message("refused pid %d: %s", (int)client->peer.pid, why);
    client->service->refused++;
    connection_send(client->source.fd, &refusal, sizeof(refusal), -1);
    client_end(client);
}

static void answer_hello(struct client *client, const struct protocol_hello *hello)
{
    struct service *service = client->service;
    struct session *session = session_begin(service, client->source.fd, client->peer.pid, hello);
    struct protocol_welcome welcome = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .kind = PROTOCOL_WELCOME,
        .node_limit = service->options->node_limit,
    };

    if (!session) {
        refuse(client, NULL);
        return;
    }
    welcome.capacity = session->trace.capacity;
    if (!connection_send(client->source.fd, &welcome, sizeof(welcome), session->trace.fd)) {
        message("pid %d did not take its trace: %s", (int)client->peer.pid, strerror(errno));
        session_discard(session);
        service->refused++;
    }
    client_end(client);
}

static void answer_status(struct client *client)
{
    struct service *service = client->service;

    client_say(client, "instance %s: running, pid %d, traces in %s", service->options->instance,
               (int)getpid(), service->trace_dir_path);
    client_say(client, "sessions: %u running, %u ended, %u refused", service->running,
               service->ended, service->refused);
    client_say(client, "bytes: %" PRIu64 " in traces of running processes, %" PRIu64 " in others",
               session_running_bytes(service), service->ended_bytes);
    client_say(client, "clock: %" PRIu64 " ticks a second", tick_clock_frequency(&service->clock));
    client_say(client, "timing: %s", service->options->is_exact ? "exact" : "adaptive");
    client_say(client, NULL);
    client_end(client);
}

static void answer_stop(struct client *client)
{
    client->awaits_the_end = true;
    client->due_ms = INT64_MAX;
    service_stop(client->service);
}

static void answer(struct client *client, const union packet *packet, size_t size)
{
    char why[96];

    if (size < sizeof(packet->start) || packet->start.magic != PROTOCOL_MAGIC) {
        refuse(client, "expected a message of Umbra, found something else");
    } else if (packet->start.version != PROTOCOL_VERSION) {
        snprintf(why, sizeof(why), "expected protocol version %d, found %u: instrument it again",
                 PROTOCOL_VERSION, packet->start.version);
        refuse(client, why);
    } else if (packet->start.kind == PROTOCOL_HELLO && size == sizeof(packet->hello)) {
        answer_hello(client, &packet->hello);
    } else if (packet->start.kind == PROTOCOL_COMMAND_STATUS && size == sizeof(packet->command)) {
        answer_status(client);
    } else if (packet->start.kind == PROTOCOL_COMMAND_STOP && size == sizeof(packet->command)) {
        answer_stop(client);
    } else {
        snprintf(why, sizeof(why), "found a message of kind %u with %zu bytes: unknown",
                 packet->start.kind, size);
        refuse(client, why);
    }
}

static void client_ready(void *owner)
{
    struct client *client = owner;
    union packet packet = {0};
    ssize_t size = connection_receive(client->source.fd, &packet, sizeof(packet));

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

/* Whoever comes when the house is full takes the place of the one who has waited longest. */
static void make_room(struct service *service)
{
    struct client *client, *next;

    if (service->client_count < SERVICE_MAX_CLIENTS)
        return;
    DL_FOREACH_SAFE(service->clients, client, next)
    {
        if (client->awaits_the_end)
            continue;
        service->refused++;
        client_end(client);
        return;
    }
}

void client_begin(struct service *service, int connection, const struct connection_peer *peer)
{
    struct client *client = NULL;

    if (!peer_is_welcome(peer))
        goto err;
    make_room(service);
    client = calloc(1, sizeof(*client));
    if (!client)
        goto err;
    client->service = service;
    client->peer = *peer;
    client->due_ms = event_loop_now() + CLIENT_TIMEOUT_MS;
    client->source = (struct event_source){connection, client_ready, client};
    if (!event_loop_add(&service->loop, &client->source))
        goto err;
    DL_APPEND(service->clients, client);
    service->client_count++;
    return;
err:
    service->refused++;
    free(client);
    close(connection);
}

void client_end(struct client *client)
{
    struct service *service = client->service;

    event_loop_remove(&service->loop, &client->source);
    DL_DELETE(service->clients, client);
    service->client_count--;
    close(client->source.fd);
    free(client);
}

int client_drop_idle(struct service *service)
{
    int64_t now = event_loop_now();
    struct client *client, *next;

    DL_FOREACH_SAFE(service->clients, client, next)
    {
        if (client->awaits_the_end)
            continue;
        if (client->due_ms > now)
            return (int)(client->due_ms - now);
        message("dropped pid %d: it said nothing for %d s", (int)client->peer.pid,
                CLIENT_TIMEOUT_MS / 1000);
        service->refused++;
        client_end(client);
    }
    return -1;
}
