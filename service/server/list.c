#include "service/server/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "service/base/file.h"
#include "service/recorder/session.h"
#include "service/server/client.h"
#include "service/server/service.h"
#include "support/utf8.h"

/* A socket's buffer, of 208 KB by default, must hold an answer: nobody waits for room in it. */
#define ANSWER_LINES 64
#define ANSWER_BYTES (32u << 10)

#define STATE_SIZE 24
#define TIME_SIZE  24
#define ROW_SIZE   (FILE_PATH_SIZE + 2 * TRACE_FILE_NAME_SIZE + 256)

struct row {
    uint32_t number;
    pid_t pid;
    uint64_t began_ns;
    uint64_t bytes;
    const char *trace;
    const struct trace_dir *directory; /* null: the trace directory */
    const char *elsewhere;             /* its path, where it is in neither; else null */
    char state[STATE_SIZE];
};

static void write_end(char state[STATE_SIZE], const struct trace_file_end *end)
{
    if (end->kind == TRACE_END_EXEC)
        strcpy(state, "exec");
    else if (end->kind == TRACE_END_DETACHED)
        strcpy(state, "detached");
    else if (end->how == TRACE_END_HOW_UNKNOWN)
        strcpy(state, "ended");
    else
        snprintf(state, STATE_SIZE, "%s %" PRIu32, end->how == TRACE_END_KILLED ? "signal" : "exit",
                 end->code);
}

static struct row row_of_ended(const struct ended_session *session)
{
    struct row row = {
        session->number, session->pid, session->began_ns,  session->bytes,
        session->trace,  NULL,         session->elsewhere, "",
    };

    write_end(row.state, &session->end);
    return row;
}

static struct row row_of_running(const struct session *session)
{
    struct row row = {
        session->number,
        session->pid,
        session->began_ns,
        session_bytes(session),
        session->trace.name,
        session->directory,
        NULL,
        "",
    };

    strcpy(row.state, session->is_paused ? "paused" : "running");
    return row;
}

/* The session with the lowest number from first on. Returns false if there is none. */
static bool find_row(const struct recorder *recorder, uint32_t first, struct row *row)
{
    const struct ended_session *ended = ended_list_find(&recorder->ended_list, first);
    const struct session *running = recorder_find(recorder, first);

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
static int write_row(char line[ROW_SIZE], const struct recorder *recorder, const struct row *row)
{
    char path[FILE_PATH_SIZE + TRACE_FILE_NAME_SIZE];
    char name[TRACE_FILE_NAME_SIZE], began[TIME_SIZE];

    write_name(name, row->trace);
    write_time(began, row->began_ns);
    if (row->elsewhere)
        snprintf(path, sizeof(path), "%s", row->elsewhere);
    else
        snprintf(path, sizeof(path), "%s/%s",
                 (row->directory ? row->directory : &recorder->trace_dir)->path, row->trace);
    utf8_sanitise(path);
    return snprintf(line, ROW_SIZE, "%" PRIu32 "\t%d\t%s\t%s\t%s\t%" PRIu64 "\t%s", row->number,
                    (int)row->pid, name, began, row->state, row->bytes, path);
}

void list_answer(struct client *client, const struct protocol_command *command)
{
    const struct recorder *recorder = &client->service->recorder;
    uint32_t first = command->session;
    char line[ROW_SIZE];
    unsigned bytes = 0;
    struct row row;

    for (unsigned i = 0; i < ANSWER_LINES && bytes < ANSWER_BYTES; i++) {
        if (!find_row(recorder, first, &row))
            break;
        bytes += (unsigned)write_row(line, recorder, &row);
        client_send(client, "%s", line);
        if (row.number == UINT32_MAX)
            break;
        first = row.number + 1;
    }
}
