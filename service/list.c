#include "service/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "service/client.h"
#include "service/file.h"
#include "service/json.h"
#include "service/service.h"
#include "service/utf8.h"

/* A socket's buffer, of 208 KB by default, must hold an answer: nobody waits for room in it. */
#define ANSWER_LINES 64
#define ANSWER_BYTES (32u << 10)

#define STATE_SIZE 24
#define TIME_SIZE  24
#define ROW_SIZE   (2 * OPTIONS_PATH_SIZE + 2 * TRACE_FILE_NAME_SIZE + 256)

struct row {
    uint32_t number;
    pid_t pid;
    uint64_t began_ns;
    uint64_t bytes;
    const char *trace;
    char state[STATE_SIZE];
};

void list_keep(struct service *service, const struct session *session, uint64_t bytes,
               const struct trace_file_end *end)
{
    struct ended_list *list = &service->ended_sessions;
    struct ended_session *slot;

    if (!list->sessions)
        list->sessions = calloc(LIST_ENDED_LIMIT, sizeof(*list->sessions));
    if (!list->sessions)
        return;
    slot = &list->sessions[list->count++ % LIST_ENDED_LIMIT];
    *slot = (struct ended_session){
        .number = session->number,
        .pid = session->pid,
        .began_ns = session->began_ns,
        .bytes = bytes,
        .end = *end,
    };
    memcpy(slot->trace, session->trace.name, sizeof(slot->trace));
}

void list_free(struct ended_list *list)
{
    free(list->sessions);
    list->sessions = NULL;
}

static size_t kept(const struct ended_list *list)
{
    return list->count < LIST_ENDED_LIMIT ? (size_t)list->count : LIST_ENDED_LIMIT;
}

static void write_end(char state[STATE_SIZE], const struct trace_file_end *end)
{
    if (end->kind == TRACE_END_EXEC)
        strcpy(state, "exec");
    else if (end->how == TRACE_END_HOW_UNKNOWN)
        strcpy(state, "ended");
    else
        snprintf(state, STATE_SIZE, "%s %" PRIu32, end->how == TRACE_END_KILLED ? "signal" : "exit",
                 end->code);
}

static struct row row_of_ended(const struct ended_session *session)
{
    struct row row = {
        session->number, session->pid, session->began_ns, session->bytes, session->trace, "",
    };

    write_end(row.state, &session->end);
    return row;
}

static struct row row_of_running(const struct session *session)
{
    struct row row = {
        session->number,        session->pid,        session->began_ns,
        session_bytes(session), session->trace.name, "",
    };

    strcpy(row.state, session->paused ? "paused" : "running");
    return row;
}

/* The session with the lowest number from first on. Returns false if there is none. */
static bool find_row(const struct service *service, uint32_t first, struct row *row)
{
    const struct ended_list *list = &service->ended_sessions;
    const struct ended_session *ended = NULL;
    const struct session *running = NULL, *session;

    for (size_t i = 0; i < kept(list); i++) {
        const struct ended_session *at = &list->sessions[i];
        if (at->number >= first && (!ended || at->number < ended->number))
            ended = at;
    }
    DL_FOREACH(service->sessions, session)
    {
        if (session->number >= first && (!running || session->number < running->number))
            running = session;
    }
    if (!ended && !running)
        return false;
    *row = ended && (!running || ended->number < running->number) ? row_of_ended(ended)
                                                                  : row_of_running(running);
    return true;
}

static void write_time(char text[TIME_SIZE], uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    const struct tm *utc = gmtime(&seconds);

    if (!utc || !strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", utc))
        strcpy(text, "unknown");
}

/* EXE of EXE-PID-SESSION.bin. */
static void write_name(char name[TRACE_FILE_NAME_SIZE], const char *trace)
{
    strcpy(name, trace);
    for (int i = 0; i < 2; i++) {
        char *dash = strrchr(name, '-');
        if (dash)
            *dash = 0;
    }
}

/* Returns its length. */
static int write_row(char line[ROW_SIZE], const struct service *service, const struct row *row,
                     bool as_json)
{
    char path[OPTIONS_PATH_SIZE + TRACE_FILE_NAME_SIZE];
    char string[2 * sizeof(path)];
    char name[TRACE_FILE_NAME_SIZE], began[TIME_SIZE];

    write_name(name, row->trace);
    write_time(began, row->began_ns);
    snprintf(path, sizeof(path), "%s/%s", service->trace_dir_path, row->trace);
    utf8_sanitise(path);
    if (!as_json)
        return snprintf(line, ROW_SIZE, "%" PRIu32 "\t%d\t%s\t%s\t%s\t%" PRIu64 "\t%s", row->number,
                        (int)row->pid, name, began, row->state, row->bytes, path);
    return snprintf(line, ROW_SIZE,
                    "{\"session\":%" PRIu32 ",\"pid\":%d,\"name\":\"%s\",\"began\":\"%s\","
                    "\"state\":\"%s\",\"bytes\":%" PRIu64 ",\"trace\":%s}",
                    row->number, (int)row->pid, name, began, row->state, row->bytes,
                    json_string(string, sizeof(string), path));
}

void list_say(struct client *client, uint32_t first, bool as_json)
{
    char line[ROW_SIZE];
    unsigned bytes = 0;
    struct row row;

    for (unsigned i = 0; i < ANSWER_LINES && bytes < ANSWER_BYTES; i++) {
        if (!find_row(client->service, first, &row))
            break;
        bytes += (unsigned)write_row(line, client->service, &row, as_json);
        client_say(client, "%s", line);
        if (row.number == UINT32_MAX)
            break;
        first = row.number + 1;
    }
    client_say(client, NULL);
}

bool list_sync(const struct service *service)
{
    const struct ended_list *list = &service->ended_sessions;

    if (list->count > LIST_ENDED_LIMIT || list->count < service->ended)
        return file_sync_all(service->trace_dir);
    for (size_t i = 0; i < kept(list); i++) {
        if (!file_sync(service->trace_dir, list->sessions[i].trace))
            return false;
    }
    return file_sync(service->trace_dir, NULL);
}
