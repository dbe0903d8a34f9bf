#include "service/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "service/endpoint.h"
#include "service/message.h"
#include "service/process.h"
#include "trace/protocol.h"

#define STATUS_PATIENCE_S 10
#define LINE_SIZE         4096

/* Sends the command and prints the lines of the answer, up to the empty packet that ends it. */
static bool ask(int connection, enum protocol_kind kind)
{
    const struct protocol_command command = {PROTOCOL_MAGIC, PROTOCOL_VERSION, kind, 0};
    char line[LINE_SIZE];
    unsigned lines = 0;
    ssize_t length;

    if (send(connection, &command, sizeof(command), MSG_NOSIGNAL) != sizeof(command))
        return false;
    while ((length = recv(connection, line, sizeof(line), 0)) > 0) {
        struct protocol_welcome refusal;

        memcpy(&refusal, line, sizeof(refusal));
        if (length == sizeof(refusal) && refusal.magic == PROTOCOL_MAGIC) {
            errno = EPROTO;
            return false;
        }
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
    struct timeval patience = {.tv_sec = STATUS_PATIENCE_S};
    struct endpoint_peer service;
    int connection = endpoint_connect(instance, &service);
    bool ok;

    if (connection < 0)
        return say_not_running(instance);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ok = ask(connection, PROTOCOL_COMMAND_STATUS);
    close(connection);
    return ok ? 0 : say_no_answer(instance);
}

int control_stop(const char *instance)
{
    struct endpoint_peer service;
    int connection = endpoint_connect(instance, &service);
    int watch;
    bool ok;

    if (connection < 0)
        return say_not_running(instance);
    watch = endpoint_watch_peer(connection, service.pid);
    ok = ask(connection, PROTOCOL_COMMAND_STOP);
    close(connection);
    if (ok)
        process_wait_until_gone(service.pid, watch);
    if (watch >= 0)
        close(watch);
    return ok ? 0 : say_no_answer(instance);
}
