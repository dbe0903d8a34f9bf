/*
 * Chrome's trace events, as JSON, for Perfetto's viewer, Chromes that have chrome://tracing and
 * anything else that reads them.
 *
 *      { "displayTimeUnit": "ns", "traceEvents": [
 *        {"ph":"M","pid":4711,"tid":0,"name":"process_name","args":{"name":"fib 4711"}},
 *        {"ph":"M","pid":4711,"tid":4711,"name":"thread_name","args":{"name":"main"}},
 *        {"ph":"B","pid":4711,"tid":4711,"ts":12.345,"name":"main"},
 *        {"ph":"B",…,"name":"Throw","args":{"caller":"JS:~rounds"}},    code made at run time
 *        {"ph":"E","pid":4711,"tid":4711,"ts":99.001},
 *        {"ph":"E",…,"ts":99.001,"args":{"end":"open"}},       or "closed": see time_line.h
 *        {"ph":"I","s":"t",…,"ts":50.000,"name":"1024 events lost"} ] }
 *
 * ts is in microseconds, with nanoseconds behind the point. Begins and ends of a thread nest, in
 * the order of the file; those of several threads are mixed. Readers know a process by its pid and
 * a thread by its tid. Where several processes have a pid, as behind an exec, those after the first
 * get 10,000,000 more, each, and their threads too: Linux has no such pids.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/decimal.h"
#include "grinder/events/time_line.h"
#include "grinder/formats/part_name.h"
#include "support/memory.h"
#include "support/utf8.h"

#define PIDS 10000000

/* What all events of a thread have in common: "pid":1,"tid":2,"ts": */
struct thread_text {
    char text[64];
    size_t size;
};

struct json_name {
    char *text;
    size_t size;
};

struct writer {
    FILE *stream;
    const struct images *images;
    struct thread_text *threads;
    struct json_name *names; /* by function; null until it is needed */
    bool has_events;
};

static const struct json_name *name_of(struct writer *writer, uint32_t function)
{
    struct json_name *name = &writer->names[function];
    FILE *memory;

    if (name->text)
        return name;
    memory = open_memstream(&name->text, &name->size);
    if (memory) {
        utf8_write_json(memory, time_line_name(writer->images, function));
        fclose(memory);
    }
    memory_or_exit(name->text, 1);
    return name;
}

static char *put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

/* A line up to its time, that included. */
#define LINE_ROOM 160
static char *put_event(const struct writer *writer, char line[LINE_ROOM], const char *kind,
                       size_t thread, uint64_t ns)
{
    const struct thread_text *text = &writer->threads[thread];
    char *at = put(line, kind, strlen(kind));

    at = put(at, text->text, text->size);
    return decimal_put_fraction(at, ns, 3);
}

static void write_begin(void *user, size_t thread, const struct tree_node *call, uint64_t ns)
{
    struct writer *writer = user;
    const struct json_name *name = name_of(writer, call->function);
    char line[LINE_ROOM], *end = put_event(writer, line, ",\n{\"ph\":\"B\",", thread, ns);

    end = put(end, ",\"name\":", 8);
    fwrite_unlocked(line, 1, (size_t)(end - line), writer->stream);
    fwrite_unlocked(name->text, 1, name->size, writer->stream);
    if (call->caller) {
        name = name_of(writer, call->caller);
        fputs(",\"args\":{\"caller\":", writer->stream);
        fwrite_unlocked(name->text, 1, name->size, writer->stream);
        putc_unlocked('}', writer->stream);
    }
    putc_unlocked('}', writer->stream);
}

static void write_end(void *user, size_t thread, uint64_t ns, enum time_line_end how)
{
    struct writer *writer = user;
    char line[LINE_ROOM], *end = put_event(writer, line, ",\n{\"ph\":\"E\",", thread, ns);

    if (how == TIME_LINE_OPEN)
        end = put(end, ",\"args\":{\"end\":\"open\"}", 22);
    else if (how == TIME_LINE_CLOSED)
        end = put(end, ",\"args\":{\"end\":\"closed\"}", 24);
    *end++ = '}';
    fwrite_unlocked(line, 1, (size_t)(end - line), writer->stream);
}

static void write_gap(void *user, size_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t dropped)
{
    struct writer *writer = user;
    char line[LINE_ROOM];
    char *end = put_event(writer, line, ",\n{\"ph\":\"I\",\"s\":\"t\",", thread, from_ns);

    (void)to_ns;
    fwrite_unlocked(line, 1, (size_t)(end - line), writer->stream);
    fprintf(writer->stream, ",\"name\":\"%" PRIu64 " events lost\"}", dropped);
}

/* The first event of all is one of these. */
static void write_name(struct writer *writer, const char *what, uint32_t pid, uint32_t tid,
                       const char *name)
{
    FILE *stream = writer->stream;

    fputs(writer->has_events ? ",\n" : "\n", stream);
    writer->has_events = true;
    fprintf(stream, "{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":\"%s\",", pid,
            tid, what);
    fputs("\"args\":{\"name\":", stream);
    utf8_write_json(stream, name);
    fputs("}}", stream);
}

static void begin_process(struct writer *writer, const struct profile *profile, size_t number)
{
    const struct process *process = &profile->processes[number];
    uint32_t more = PIDS * (uint32_t)process_lives_before(profile, number);
    uint32_t pid = process->header.pid + more;
    char name[PART_NAME_SIZE];

    process_name(name, profile, number);
    write_name(writer, "process_name", pid, 0, name);
    writer->threads = memory_zeroed(process->thread_count, sizeof(*writer->threads));
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct trace_thread *thread = &process->threads[i].record;
        struct thread_text *text = &writer->threads[i];
        if (profile->selection && !selection_match_thread(profile->selection, thread))
            continue;
        thread_name(name, thread);
        write_name(writer, "thread_name", pid, thread->tid + more, name);
        text->size = (size_t)snprintf(text->text, sizeof(text->text),
                                      "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":", pid,
                                      thread->tid + more);
    }
}

static bool write_process(struct writer *writer, const struct view *view, size_t number)
{
    const struct time_line_visitor visitor = {writer, write_begin, write_end, write_gap};
    const struct time_line_range range = {view->from_ns, view->to_ns, 0};
    const struct process *process = &view->profile->processes[number];
    struct time_line_facts *facts = memory_zeroed(process->thread_count, sizeof(*facts));
    struct event_totals totals;
    struct failure failure;
    bool is_sound;

    begin_process(writer, view->profile, number);
    is_sound = time_line_walk(view->profile, number, &range, &visitor, facts, &totals, &failure);
    if (!is_sound)
        view->say(&failure);
    free(writer->threads);
    free(facts);
    return is_sound;
}

bool chrome_write(FILE *stream, const struct view *view)
{
    size_t function_count = images_function_count(view->images);
    struct writer writer = {.stream = stream, .images = view->images};
    bool is_sound = true;

    writer.names = memory_zeroed(function_count, sizeof(*writer.names));
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"umbra grinder " UMBRA_VERSION
          "\"},\n\"traceEvents\":[",
          stream);
    for (size_t i = 0; i < view->profile->process_count; i++)
        if (view->profile->processes[i].nodes && !write_process(&writer, view, i))
            is_sound = false;
    fputs("\n]}\n", stream);
    for (size_t i = 0; i < function_count; i++)
        free(writer.names[i].text);
    free(writer.names);
    return is_sound;
}
