#include "service/tool/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/base/file.h"
#include "support/utf8.h"

#define FIELD_SIZE (FILE_PATH_SIZE + 256) /* of a line of a list: a path, with the trace's name */

/* Never null: for what is printed. */
static const char *text(const struct table *answer, const char *key)
{
    const char *value = table_text(answer, key);

    return value ? value : "";
}

static void show_status_text(const struct table *answer)
{
    const char *why_no_samples = table_text(answer, "why_no_samples");

    printf("instance %s: running, pid %s, traces in ", text(answer, "instance"),
           text(answer, "pid"));
    utf8_write_plain(stdout, text(answer, "trace_dir")); /* there may be tabs in it */
    putchar('\n');
    printf("sessions: %s running, %s ended, %s refused, %s lost\n", text(answer, "running"),
           text(answer, "ended"), text(answer, "refused"), text(answer, "lost"));
    printf("recording: %s\n", table_number(answer, "paused") ? "paused for new programs" : "on");
    printf("bytes: %s in traces of running processes, %s in others\n",
           text(answer, "running_bytes"), text(answer, "ended_bytes"));
    printf("memory: %s bytes resident\n", text(answer, "resident_bytes"));
    printf("descriptors: %s in use, of %s\n", text(answer, "descriptors"),
           text(answer, "descriptor_limit"));
    if (table_text(answer, "port"))
        printf("windows programs: %s running, port %s\n", text(answer, "windows_programs"),
               text(answer, "port"));
    printf("clock: %s ticks a second\n", text(answer, "ticks_per_second"));
    printf("timing: %s\n", text(answer, "timing"));
    if (why_no_samples)
        printf("samples: none: %s\n", why_no_samples);
    else
        printf("samples: %s a second of processor time, of %s running\n",
               text(answer, "samples_per_second"), text(answer, "sampled"));
}

static void print_number(const struct table *answer, const char *key)
{
    printf("\"%s\":%" PRIu64 ",", key, table_number(answer, key));
}

static void show_status_json(const struct table *answer)
{
    static const char *const counts[] = {"running", "ended", "refused", "lost"};
    static const char *const needs[] = {
        "running_bytes",    "ended_bytes",        "resident_bytes",
        "descriptors",      "descriptor_limit",   "windows_programs",
        "ticks_per_second", "samples_per_second", "sampled"};
    const char *why_no_samples = table_text(answer, "why_no_samples");

    printf("{\"instance\":\"%s\",\"pid\":%s,\"trace_dir\":", text(answer, "instance"),
           text(answer, "pid"));
    utf8_write_json(stdout, text(answer, "trace_dir"));
    putchar(',');
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        print_number(answer, counts[i]);
    printf("\"paused\":%s,", table_number(answer, "paused") ? "true" : "false");
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        print_number(answer, needs[i]);
    printf("\"why_no_samples\":");
    if (why_no_samples)
        utf8_write_json(stdout, why_no_samples);
    else
        printf("null");
    puts("}");
}

void show_status(const struct table *answer, bool as_json)
{
    if (as_json)
        show_status_json(answer);
    else
        show_status_text(answer);
}

void show_stop(const struct table *answer)
{
    if (table_text(answer, "not_on_disk"))
        printf("not all traces are on the disk: %s\n", text(answer, "not_on_disk"));
    printf("traces completed: %s, with %s bytes\n", text(answer, "ended"),
           text(answer, "ended_bytes"));
    if (table_number(answer, "left"))
        printf("processes still running: %s, recording goes on\n", text(answer, "left"));
    printf("instance %s: stopped, pid %s\n", text(answer, "instance"), text(answer, "pid"));
}

void show_pause(const struct table *answer, bool is_pause)
{
    uint64_t count = table_number(answer, "sessions");

    printf("%s: %" PRIu64 " session%s\n", is_pause ? "paused" : "resumed", count,
           count == 1 ? "" : "s");
}

static void print_session(const char *line)
{
    char fields[SHOW_LIST_TRACE + 1][FIELD_SIZE];

    for (unsigned i = 0; i <= SHOW_LIST_TRACE; i++)
        table_field(line, i, fields[i], sizeof(fields[i]));
    printf("{\"session\":%s,\"pid\":%s,\"name\":", fields[SHOW_LIST_NUMBER], fields[SHOW_LIST_PID]);
    utf8_write_json(stdout, fields[SHOW_LIST_NAME]);
    printf(",\"began\":\"%s\",\"state\":\"%s\",\"bytes\":%s,\"trace\":", fields[SHOW_LIST_BEGAN],
           fields[SHOW_LIST_STATE], fields[SHOW_LIST_BYTES]);
    utf8_write_json(stdout, fields[SHOW_LIST_TRACE]);
    putchar('}');
}

/* Its first line has the names of the columns. */
static void show_list_json(const struct table *sessions)
{
    printf("[");
    for (size_t i = 1; i < sessions->count; i++) {
        printf("%s\n", i > 1 ? "," : "");
        print_session(sessions->lines[i]);
    }
    puts("\n]");
}

void show_list(struct table *sessions, bool as_json)
{
    if (as_json)
        show_list_json(sessions);
    else
        table_print(sessions, isatty(STDOUT_FILENO), "session\tpid\tbytes");
}
