#include "service/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/endpoint.h"
#include "service/message.h"
#include "service/process.h"
#include "trace/protocol.h"

#define STATUS_PATIENCE_S 10
#define LINE_SIZE         4096

/* A refusal is no text: it comes from a service of another version. */
static bool is_refusal(const char *packet, ssize_t length)
{
    struct protocol_welcome refusal;

    if (length != sizeof(refusal))
        return false;
    memcpy(&refusal, packet, sizeof(refusal));
    return refusal.magic == PROTOCOL_MAGIC && refusal.kind == PROTOCOL_REFUSED;
}

/* Sends the command and prints the lines of the answer, up to the empty packet that ends it. */
static bool ask(int connection, enum protocol_kind kind)
{
    const struct protocol_command command = {PROTOCOL_MAGIC, PROTOCOL_VERSION, kind, 0};
    char line[LINE_SIZE];
    unsigned lines = 0;
    ssize_t length;

    if (!connection_send(connection, &command, sizeof(command), -1))
        return false;
    while ((length = connection_receive(connection, line, sizeof(line))) > 0) {
        if (is_refusal(line, length)) {
            errno = EPROTO;
            return false;
        }
        printf("%.*s\n", (int)(length < LINE_SIZE ? length : LINE_SIZE), line);
        lines++;
    }
    if (length == 0 && !lines)
        errno = ECONNRESET;
    return length == 0 && lines;
}

static int say_not_running(const char *instance)
{
    if (errno == ENOENT || errno == ECONNREFUSED)
        printf("instance %s: not running\n", instance);
    else
        message("instance %s: cannot be reached: %s", instance, strerror(errno));
    return 1;
}

static int say_no_answer(const char *instance)
{
    message("instance %s: expected an answer from the service, found: %s", instance,
            errno == EAGAIN ? "none in time" : strerror(errno));
    return 1;
}

int control_status(const char *instance)
{
    struct connection_peer service;
    int connection = endpoint_connect(instance, STATUS_PATIENCE_S, &service);
    bool ok;

    if (connection < 0)
        return say_not_running(instance);
    ok = ask(connection, PROTOCOL_COMMAND_STATUS);
    close(connection);
    return ok ? 0 : say_no_answer(instance);
}

int control_stop(const char *instance)
{
    struct connection_peer service;
    int connection = endpoint_connect(instance, 0, &service);
    int watch;
    bool ok;

    if (connection < 0)
        return say_not_running(instance);
    watch = connection_watch_peer(connection, service.pid);
    ok = ask(connection, PROTOCOL_COMMAND_STOP);
    close(connection);
    if (ok)
        process_wait_until_gone(service.pid, watch);
    if (watch >= 0)
        close(watch);
    return ok ? 0 : say_no_answer(instance);
}
