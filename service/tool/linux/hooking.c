#include "service/tool/hooking.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/attach/linux/matching.h"
#include "service/base/message.h"
#include "service/server/connection.h"
#include "service/tool/control.h"
#include "service/tool/table.h"
#include "trace/protocol.h"

/* Adds to count how many of them have hooks. False after one message. */
static bool send(const struct options *options, const struct protocol_change *change,
                 unsigned long *count)
{
    struct connection_peer service;
    struct table answer = {0};
    int connection = control_connect_attached(options, &service);
    bool is_done = false;

    if (connection < 0)
        return false;
    if (!connection_ask_change(connection, change) || !control_read_answer(connection, &answer))
        message("instance %s: expected an answer from the service, found: %s", options->instance,
                strerror(errno));
    else if (!answer.count)
        message("instance %s: expected `attach` to serve it, found another service",
                options->instance);
    else if (table_text(&answer, "failure"))
        message("process %d: %s: nothing has changed; try again", (int)options->attached,
                table_text(&answer, "failure"));
    else
        is_done = true;
    *count += (unsigned long)table_number(&answer, "functions");
    connection_close(connection);
    table_free(&answer);
    return is_done;
}

static bool send_all(const struct options *options, const struct matching *matching,
                     unsigned long *count)
{
    struct protocol_change change = {
        .command.kind =
            options->verb == VERB_HOOK ? PROTOCOL_COMMAND_HOOK : PROTOCOL_COMMAND_UNHOOK,
    };

    for (size_t i = 0; i < matching->count; i += change.count) {
        size_t left = matching->count - i;

        change.more = left > PROTOCOL_CHANGE_MOST;
        change.count = change.more ? PROTOCOL_CHANGE_MOST : (uint32_t)left;
        memcpy(change.functions, matching->addresses + i, change.count * sizeof(*change.functions));
        if (!send(options, &change, count))
            return false;
    }
    return true;
}

static int change_hooks(const struct options *options, const struct matching *matching)
{
    unsigned long count = 0;

    if (!send_all(options, matching, &count))
        return 1;
    if (!count) {
        message("process %d: expected functions that `attach` has made hooks for, found none among "
                "%zu that match",
                (int)options->attached, matching->count);
        return 1;
    }
    printf("process %d: %lu function%s %s\n", (int)options->attached, count, count == 1 ? "" : "s",
           options->verb == VERB_HOOK ? "hooked" : "not hooked any more");
    return 0;
}

int hooking_run(const struct options *options)
{
    struct connection_peer service;
    struct matching matching;
    struct failure failure;
    int connection = control_connect_attached(options, &service), status = 1;

    if (connection < 0)
        return 1;
    connection_close(connection);
    if (!matching_read(&matching, options->attached, options->patterns, &failure)) {
        message("process %d: %s", (int)options->attached, failure.text);
        return 1;
    }
    if (matching.count)
        status = change_hooks(options, &matching);
    else
        message("process %d: expected functions that match, found none; patterns are those of "
                "`instrument --include`",
                (int)options->attached);
    matching_free(&matching);
    return status;
}
