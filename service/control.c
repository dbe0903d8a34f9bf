#include "service/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "service/endpoint.h"
#include "service/message.h"
#include "service/process.h"
#include "trace/protocol.h"

#define STATUS_PATIENCE_S 10
#define LINE_SIZE         4096

/* Sends the command and prints the lines of the answer, up to its end. */
static bool ask(int connection, const struct connection_peer *service, enum protocol_kind command)
{
    char line[LINE_SIZE];
    unsigned lines = 0;
    ssize_t length;

    if (!connection_ask(connection, service, command))
        return false;
    while ((length = connection_receive_line(connection, line, sizeof(line))) > 0) {
        printf("%.*s\n", (int)length, line);
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
    ok = ask(connection, &service, PROTOCOL_COMMAND_STATUS);
    connection_close(connection);
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
    ok = ask(connection, &service, PROTOCOL_COMMAND_STOP);
    connection_close(connection);
    if (ok)
        process_wait_until_gone(service.pid, watch);
    process_unwatch(watch);
    return ok ? 0 : say_no_answer(instance);
}
