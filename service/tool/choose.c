#include "service/tool/choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/tool/control.h"
#include "service/tool/show.h"
#include "service/tool/top.h"
#include "service/traces/snapshot.h"
#include "service/traces/trace_file.h"

#define FIELD_SIZE 32

static bool is_running(const char *line)
{
    char state[FIELD_SIZE];

    table_field(line, SHOW_LIST_STATE, state, sizeof(state));
    return !strcmp(state, "running") || !strcmp(state, "paused");
}

static bool is_number(const char *line, enum show_list_field number, uint32_t wanted)
{
    char field[FIELD_SIZE];

    table_field(line, number, field, sizeof(field));
    return !wanted || strtoul(field, NULL, 10) == wanted;
}

static uint32_t number_of(const char *line)
{
    char field[FIELD_SIZE];

    table_field(line, SHOW_LIST_NUMBER, field, sizeof(field));
    return (uint32_t)strtoul(field, NULL, 10);
}

/* Keeps of the table the sessions that run and are meant. *last: the number of the last of all. */
static int find(const struct options *options, struct table *table, uint32_t *last)
{
    size_t kept = 0;
    int status = control_sessions(options, table);

    *last = table->count ? number_of(table->lines[table->count - 1]) : 0;
    for (size_t i = 0; i < table->count; i++) {
        char *line = table->lines[i];
        if (is_running(line) && is_number(line, SHOW_LIST_NUMBER, options->session) &&
            is_number(line, SHOW_LIST_PID, options->pid))
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

/* Where the copy is to be: the folder, opened, and the name in it. */
static int open_folder(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char folder[FILE_PATH_SIZE], *absolute = NULL;
    int directory;

    *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    directory = file_open_directory(folder, &absolute);
    if (directory < 0)
        message("snapshot: %s: %s", path, strerror(errno));
    free(absolute);
    return directory;
}

static int copy(const struct options *options, const char *line)
{
    char name[TRACE_FILE_NAME_SIZE], by_default[TRACE_FILE_NAME_SIZE + 32];
    struct failure failure;
    const char *to = options->output ? options->output : by_default, *copy_name;
    int trace = control_open(options, number_of(line), name, sizeof(name));
    int directory = -1;
    bool ok = false;

    if (trace < 0)
        return 1;
    snprintf(by_default, sizeof(by_default), "%.*s-snapshot.bin",
             (int)(strlen(name) - strlen(".bin")), name);
    directory = open_folder(to, &copy_name);
    if (directory >= 0) {
        ok = snapshot_copy(trace, name, directory, copy_name, &failure);
        if (ok)
            printf("%s\n", to);
        else
            message("snapshot: %s", failure.text);
    }
    file_close(directory);
    file_close(trace);
    return ok ? 0 : 1;
}

int choose_snapshot(const struct options *options)
{
    struct table sessions = {0};
    uint32_t last;
    int status = find(options, &sessions, &last);

    if (!status)
        status = sessions.count == 1 ? copy(options, sessions.lines[0])
                                     : say_how_many(options, sessions.count);
    table_free(&sessions);
    return status;
}

/* In place of each line the path of its trace, open in what is executed. Those that ended meanwhile
   are left out, after a message. */
static void open_traces(const struct options *options, struct table *sessions)
{
    char name[TRACE_FILE_NAME_SIZE];
    size_t kept = 0;

    process_raise_descriptor_limit();
    for (size_t i = 0; i < sessions->count; i++) {
        char *line = sessions->lines[i];
        int trace = control_open(options, number_of(line), name, sizeof(name));

        if (trace < 0) {
            free(line);
            continue;
        }
        sprintf(line, "/proc/self/fd/%d", trace); /* shorter than any line of a list */
        sessions->lines[kept++] = line;
    }
    sessions->count = kept;
}

int choose_top(const struct options *options)
{
    struct table sessions = {0};
    uint32_t last;
    int status = find(options, &sessions, &last);
    char **paths;

    if (!status)
        open_traces(options, &sessions);
    paths = status ? NULL : calloc(sessions.count + 1, sizeof(*paths));
    if (paths && sessions.count) {
        memcpy(paths, sessions.lines, sessions.count * sizeof(*paths));
        status = top_run(options, paths, last);
    } else if (paths) {
        message("top: expected a running session, found none");
        status = 1;
    }
    free(paths);
    table_free(&sessions);
    return status;
}
