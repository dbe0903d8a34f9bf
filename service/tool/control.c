#include "service/tool/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/message.h"
#include "service/base/process.h"
#include "service/server/client.h"
#include "service/server/endpoint.h"
#include "service/tool/show.h"
#include "trace/protocol.h"

#define PATIENCE_S 10

bool control_read_answer(int connection, struct table *answer)
{
    char line[CLIENT_LINE_SIZE + 1];
    ssize_t length;

    while ((length = connection_receive_line(connection, line, sizeof(line) - 1)) > 0) {
        line[length] = 0;
        if (!table_add(answer, line))
            return false;
    }
    return length == 0;
}

static bool ask(int connection, const struct connection_peer *service,
                const struct protocol_command *command, struct table *answer)
{
    return connection_ask(connection, service, command) && control_read_answer(connection, answer);
}

/* This is the answer to status; other verbs cannot do what they are for. */
static int say_not_running(const char *instance, bool is_answer)
{
    bool is_none = errno == ENOENT || errno == ECONNREFUSED;

    if (is_none && is_answer)
        printf("instance %s: not running\n", instance);
    else if (is_none)
        message("instance %s: not running; start it, or name another with --instance-id", instance);
    else if (errno != EPERM)
        message("instance %s: cannot be reached: %s", instance, strerror(errno));
    return 1;
}

static int say_no_answer(const char *instance)
{
    message("instance %s: expected an answer from the service, found: %s", instance,
            errno == EAGAIN       ? "none in time"
            : errno == EPROTO     ? "a refusal: it is of another version, use the tool it came with"
            : errno == ECONNRESET ? "none, it has ended"
                                  : strerror(errno));
    return 1;
}

/* The end of an answer, and of the service, look alike. */
static bool has_answer(const struct table *answer)
{
    if (!answer->count)
        errno = ECONNRESET;
    return answer->count;
}

/* One question, to which an answer may be empty. Returns 0, or 1 after one message. */
static int ask_for_any(const char *instance, const struct protocol_command *command,
                       struct table *answer)
{
    struct connection_peer service;
    int connection = endpoint_connect(instance, PATIENCE_S, &service);
    bool ok;

    if (connection < 0)
        return say_not_running(instance, command->kind == PROTOCOL_COMMAND_STATUS);
    ok = ask(connection, &service, command, answer);
    connection_close(connection);
    return ok ? 0 : say_no_answer(instance);
}

/* One question, whose answer has one line at least. Returns 0, or 1 after one message. */
static int ask_once(const char *instance, const struct protocol_command *command,
                    struct table *answer)
{
    if (ask_for_any(instance, command, answer))
        return 1;
    return has_answer(answer) ? 0 : say_no_answer(instance);
}

int control_status(const struct options *options)
{
    const struct protocol_command command = {.kind = PROTOCOL_COMMAND_STATUS};
    struct table answer = {0};
    int status = ask_once(options->instance, &command, &answer);

    if (!status)
        show_status(&answer, options->as_json);
    table_free(&answer);
    return status;
}

int control_pause(const struct options *options)
{
    bool is_pause = options->verb == VERB_PAUSE;
    const struct protocol_command command = {
        .kind = is_pause ? PROTOCOL_COMMAND_PAUSE : PROTOCOL_COMMAND_RESUME,
        .session = options->session,
        .pid = options->pid,
    };
    struct table answer = {0};
    int status = ask_once(options->instance, &command, &answer);

    if (!status)
        show_pause(&answer, is_pause);
    if (!status && (options->session || options->pid) && !table_number(&answer, "sessions")) {
        message("--%s=%u: expected a running session, found none; see list",
                options->session ? "session" : "pid",
                options->session ? options->session : options->pid);
        status = 1;
    }
    table_free(&answer);
    return status;
}

int control_sessions(const struct options *options, struct table *table)
{
    struct protocol_command command = {.kind = PROTOCOL_COMMAND_LIST, .session = 1};
    size_t before;
    int status;

    if (!table_add(table, SHOW_LIST_COLUMNS))
        return 1;
    do {
        before = table->count;
        status = ask_for_any(options->instance, &command, table);
        if (table->count > before)
            command.session = (uint32_t)strtoul(table->lines[table->count - 1], NULL, 10) + 1;
    } while (!status && table->count > before && command.session);
    return status;
}

int control_open(const struct options *options, uint32_t session, char *name, size_t size)
{
    struct protocol_command command = {.kind = PROTOCOL_COMMAND_OPEN, .session = session};
    struct connection_peer service;
    int connection = endpoint_connect(options->instance, PATIENCE_S, &service);
    int trace = -1;

    if (connection < 0) {
        say_not_running(options->instance, false);
        return -1;
    }
    if (connection_ask(connection, &service, &command))
        trace = connection_receive_trace(connection, name, size);
    if (trace < 0)
        message("session %u: cannot open its trace: %s", session,
                errno == ENOENT ? "it has ended" : strerror(errno));
    connection_close(connection);
    return trace;
}

int control_list(const struct options *options)
{
    struct table sessions = {0};
    int status = control_sessions(options, &sessions);

    if (!status)
        show_list(&sessions, options->as_json);
    table_free(&sessions);
    return status;
}

/* Who listens may be whoever started the service by its socket: the answer says who served. */
static void wait_for_server(const struct table *answer, const struct connection_peer *listener,
                            int watch)
{
    pid_t pid = (pid_t)table_number(answer, "pid");

    if (pid == listener->pid) {
        process_wait_until_gone(pid, watch);
        return;
    }
    watch = process_watch(pid);
    process_wait_until_gone(pid, watch);
    process_unwatch(watch);
}

/* Stops the service that is connected to. */
static int stop(const struct options *options, int connection, struct connection_peer *service)
{
    const struct protocol_command command = {.kind = PROTOCOL_COMMAND_STOP};
    struct table answer = {0};
    int watch, status = 0;
    bool ok;

    watch = connection_watch_peer(connection, service->pid);
    ok = ask(connection, service, &command, &answer) && has_answer(&answer);
    if (!ok)
        status = say_no_answer(options->instance);
    connection_close(connection);
    if (ok) {
        wait_for_server(&answer, service, watch);
        show_stop(&answer);
    }
    process_unwatch(watch);
    table_free(&answer);
    return status;
}

int control_stop(const struct options *options)
{
    struct connection_peer service;
    int connection = endpoint_connect(options->instance, 0, &service);

    return connection < 0 ? say_not_running(options->instance, false)
                          : stop(options, connection, &service);
}

int control_connect_attached(const struct options *options, struct connection_peer *service)
{
    int connection = endpoint_connect(options->instance, 0, service);

    if (connection >= 0)
        return connection;
    if (errno != ENOENT && errno != ECONNREFUSED)
        say_not_running(options->instance, false);
    else
        message(
            "process %d: expected `attach` to have hooked it, found no such service (instance %s)",
            (int)options->attached, options->instance);
    return -1;
}

int control_detach(const struct options *options)
{
    struct connection_peer service;
    int connection = control_connect_attached(options, &service);

    return connection < 0 ? 1 : stop(options, connection, &service);
}
