#include "service/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/client.h"
#include "service/endpoint.h"
#include "service/list.h"
#include "service/message.h"
#include "service/process.h"
#include "trace/protocol.h"

#define PATIENCE_S 10

/* Sends the command and collects the lines of the answer, up to its end. */
static bool ask(int connection, const struct connection_peer *service,
                const struct protocol_command *command, struct table *answer)
{
    char line[CLIENT_LINE_SIZE + 1];
    ssize_t length;

    if (!connection_ask(connection, service, command))
        return false;
    while ((length = connection_receive_line(connection, line, sizeof(line) - 1)) > 0) {
        line[length] = 0;
        if (!table_add(answer, line))
            return false;
    }
    return length == 0;
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

/* One question. Returns 0, or 1 after one message. */
static int ask_once(const char *instance, const struct protocol_command *command,
                    struct table *answer)
{
    struct connection_peer service;
    int connection = endpoint_connect(instance, PATIENCE_S, &service);
    bool ok;

    if (connection < 0)
        return say_not_running(instance);
    ok = ask(connection, &service, command, answer);
    connection_close(connection);
    return ok ? 0 : say_no_answer(instance);
}

int control_status(const struct options *options)
{
    struct protocol_command command = {
        .kind = PROTOCOL_COMMAND_STATUS,
        .flags = options->json ? PROTOCOL_AS_JSON : 0,
    };
    struct table answer = {0};
    int status = ask_once(options->instance, &command, &answer);

    table_print(&answer, false, NULL);
    table_free(&answer);
    return status;
}

int control_pause(const struct options *options)
{
    struct protocol_command command = {
        .kind = options->verb == VERB_PAUSE ? PROTOCOL_COMMAND_PAUSE : PROTOCOL_COMMAND_RESUME,
        .session = options->session,
        .pid = options->pid,
    };
    struct table answer = {0};
    int status = ask_once(options->instance, &command, &answer);
    unsigned count = 0;

    table_print(&answer, false, NULL);
    if (!status && (options->session || options->pid) &&
        (!answer.count || sscanf(answer.lines[0], "%*[^:]: %u", &count) != 1 || !count)) {
        message("--%s=%u: expected a running session, found none; see list",
                options->session ? "session" : "pid",
                options->session ? options->session : options->pid);
        status = 1;
    }
    table_free(&answer);
    return status;
}

/* The number of the session that a line of a list is about. */
static uint32_t number_of(const char *line, bool as_json)
{
    const char *number = as_json ? strchr(line, ':') + 1 : line;

    return (uint32_t)strtoul(number, NULL, 10);
}

int control_sessions(const struct options *options, bool as_json, struct table *table)
{
    struct protocol_command command = {
        .kind = PROTOCOL_COMMAND_LIST,
        .flags = as_json ? PROTOCOL_AS_JSON : 0,
        .session = 1,
    };
    size_t before;
    int status;

    if (!as_json && !table_add(table, LIST_COLUMNS))
        return 1;
    do {
        before = table->count;
        status = ask_once(options->instance, &command, table);
        if (table->count > before)
            command.session = number_of(table->lines[table->count - 1], as_json) + 1;
    } while (!status && table->count > before && command.session);
    return status;
}

static void print_json(const struct table *table)
{
    printf("[");
    for (size_t i = 0; i < table->count; i++)
        printf("%s\n%s", i ? "," : "", table->lines[i]);
    puts("\n]");
}

int control_list(const struct options *options)
{
    struct table table = {0};
    int status = control_sessions(options, options->json, &table);

    if (!status && options->json)
        print_json(&table);
    else if (!status)
        table_print(&table, isatty(STDOUT_FILENO), "session\tpid\tbytes");
    table_free(&table);
    return status;
}

/* Who listens may be whoever started the service by its socket: the answer says who served. */
static pid_t server_of(const struct table *answer)
{
    int pid;

    for (size_t i = answer->count; i-- > 0;) {
        if (sscanf(answer->lines[i], "instance %*[^:]: stopped, pid %d", &pid) == 1)
            return pid;
    }
    return 0;
}

int control_stop(const struct options *options)
{
    struct protocol_command command = {.kind = PROTOCOL_COMMAND_STOP};
    struct connection_peer service;
    int connection = endpoint_connect(options->instance, 0, &service);
    struct table answer = {0};
    int watch;
    bool ok;

    if (connection < 0)
        return say_not_running(options->instance);
    watch = connection_watch_peer(connection, service.pid);
    ok = ask(connection, &service, &command, &answer) && answer.count;
    connection_close(connection);
    if (ok && server_of(&answer) != service.pid) {
        process_unwatch(watch);
        service.pid = server_of(&answer);
        watch = process_watch(service.pid);
    }
    if (ok)
        process_wait_until_gone(service.pid, watch);
    process_unwatch(watch);
    table_print(&answer, false, NULL);
    table_free(&answer);
    return ok ? 0 : say_no_answer(options->instance);
}
