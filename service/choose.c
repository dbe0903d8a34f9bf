#include "service/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/control.h"
#include "service/message.h"
#include "service/snapshot.h"
#include "service/top.h"
#include "service/trace_file.h"

#define FIELD_SIZE 32

enum field {
    FIELD_NUMBER,
    FIELD_PID,
    FIELD_NAME,
    FIELD_BEGAN,
    FIELD_STATE,
    FIELD_BYTES,
    FIELD_TRACE
};

static bool is_running(const char *line)
{
    char state[FIELD_SIZE];

    table_field(line, FIELD_STATE, state, sizeof(state));
    return !strcmp(state, "running") || !strcmp(state, "paused");
}

static bool is_number(const char *line, enum field number, uint32_t wanted)
{
    char field[FIELD_SIZE];

    table_field(line, number, field, sizeof(field));
    return !wanted || strtoul(field, NULL, 10) == wanted;
}

/* Keeps of the table the sessions that run and are meant. */
static int find(const struct options *options, struct table *table)
{
    size_t kept = 0;
    int status = control_sessions(options, false, table);

    for (size_t i = 0; i < table->count; i++) {
        char *line = table->lines[i];
        if (is_running(line) && is_number(line, FIELD_NUMBER, options->session) &&
            is_number(line, FIELD_PID, options->pid))
            table->lines[kept++] = line;
        else
            free(line);
    }
    table->count = kept;
    return status;
}

static int say_how_many(const struct options *options, size_t count)
{
    if (options->session || options->pid)
        message("--%s=%u: expected one running session, found %zu; see list",
                options->session ? "session" : "pid",
                options->session ? options->session : options->pid, count);
    else
        message("snapshot: expected one running session, found %zu%s", count,
                count ? ": choose one with --session=N or --pid=PID; see list" : "");
    return 1;
}

static int copy(const struct options *options, const char *line)
{
    char trace[OPTIONS_PATH_SIZE + TRACE_FILE_NAME_SIZE];
    char by_default[TRACE_FILE_NAME_SIZE + 32];
    char why[SNAPSHOT_WHY_SIZE];
    const char *to = options->output ? options->output : by_default;
    const char *name;

    table_field(line, FIELD_TRACE, trace, sizeof(trace));
    name = strrchr(trace, '/') ? strrchr(trace, '/') + 1 : trace;
    snprintf(by_default, sizeof(by_default), "%.*s-snapshot.bin",
             (int)(strlen(name) - strlen(".bin")), name);
    if (!snapshot_copy(trace, to, why)) {
        message("snapshot: %s", why);
        return 1;
    }
    printf("%s\n", to);
    return 0;
}

int choose_snapshot(const struct options *options)
{
    struct table sessions = {0};
    int status = find(options, &sessions);

    if (!status)
        status = sessions.count == 1 ? copy(options, sessions.lines[0])
                                     : say_how_many(options, sessions.count);
    table_free(&sessions);
    return status;
}

/* In place of each line its trace's path. */
static void keep_paths(struct table *sessions)
{
    char trace[OPTIONS_PATH_SIZE + TRACE_FILE_NAME_SIZE];

    for (size_t i = 0; i < sessions->count; i++) {
        table_field(sessions->lines[i], FIELD_TRACE, trace, sizeof(trace));
        strcpy(sessions->lines[i], trace);
    }
}

int choose_top(const struct options *options)
{
    struct table sessions = {0};
    int status = find(options, &sessions);
    char **paths = status ? NULL : calloc(sessions.count + 1, sizeof(*paths));

    keep_paths(&sessions);
    if (paths && sessions.count) {
        memcpy(paths, sessions.lines, sessions.count * sizeof(*paths));
        status = top_run(options, paths);
    } else if (paths) {
        message("top: expected a running session, found none");
        status = 1;
    }
    free(paths);
    table_free(&sessions);
    return status;
}
