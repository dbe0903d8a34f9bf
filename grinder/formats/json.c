/*
 * All of a profile in one JSON object.
 *
 *      { "creator": "umbra grinder 0.1.0",
 *        "processes": [ { "pid": 4711, "ppid": 1, "fork_of_pid": 0, "command": "./fib 30",
 *                         "executable": "/home/me/fib", "trace": "traces/….bin" }, … ],
 *        "functions": [ { "name": "main", "module": "/home/me/fib", "file": …, "line": 12 }, … ],
 *        "parts": [ { "name": "fib 4711: main", "pid": 4711, "tid": 4711, "thread": "main",
 *                     "calls": 3, "ns": 5000,
 *                     "functions": [ {"function": 1, "calls": 1, "self_ns": 10,
 *                                     "total_ns": 5000} ],
 *                     "edges": [ {"caller": 0, "callee": 1, "file": null, "line": null,
 *                                 "calls": 1, "self_ns": 10, "total_ns": 5000} ] }, … ] }
 *
 * A function's number is its place in "functions", of which the first is the root. What is not
 * known is null, as are times where none were recorded; so are pid, tid and thread of merged
 * parts. Integers are exact up to 2^64.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>

#include "grinder/formats/json_text.h"
#include "grinder/formats/part_name.h"
#include "grinder/profile/symbolize.h"

static void write_place(FILE *stream, const struct place *place)
{
    json_write_text(stream, "file", place->file_number ? place->file : NULL);
    if (place->line)
        fprintf(stream, ",\"line\":%" PRIu32, place->line);
    else
        fputs(",\"line\":null", stream);
}

static void write_ns(FILE *stream, const struct profile *profile, const char *key, uint64_t ns)
{
    if (profile_has_times(profile))
        fprintf(stream, ",\"%s\":%" PRIu64, key, ns);
    else
        fprintf(stream, ",\"%s\":null", key);
}

static void write_costs(FILE *stream, const struct profile *profile, const struct costs *costs)
{
    fprintf(stream, ",\"calls\":%" PRIu64, costs->calls);
    write_ns(stream, profile, "self_ns", costs->self_ns);
    write_ns(stream, profile, "total_ns", costs->total_ns);
    putc('}', stream);
}

static void write_process(FILE *stream, const struct process *process)
{
    const struct trace_header *header = &process->header;

    fprintf(stream, "{\"pid\":%" PRIu32 ",\"ppid\":%" PRIu32 ",\"fork_of_pid\":%" PRIu32 ",",
            header->pid, header->ppid, header->fork_of_pid);
    json_write_text(stream, "command", header->command);
    putc(',', stream);
    json_write_text(stream, "executable", header->exe);
    putc(',', stream);
    json_write_text(stream, "trace", process->trace_path);
    putc('}', stream);
}

static void write_function(FILE *stream, const struct images *images, uint32_t number)
{
    const struct function *function = &images->functions[number];
    struct place place = place_of_function(images, number);

    putc('{', stream);
    json_write_text(stream, "name", function->name);
    putc(',', stream);
    json_write_text(stream, "module",
                    function->image ? images->images[function->image].path : NULL);
    putc(',', stream);
    write_place(stream, &place);
    putc('}', stream);
}

static void write_thread(FILE *stream, const struct profile *profile, const struct part *part)
{
    const struct process *process = &profile->processes[part->process];
    const struct trace_thread *thread;

    if (profile->merged) {
        fputs("\"pid\":null,\"tid\":null,\"thread\":null", stream);
        return;
    }
    thread = &process->threads[part->thread].record;
    fprintf(stream, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",", process->header.pid, thread->tid);
    json_write_text(stream, "thread", thread->name);
}

static void write_edge(FILE *stream, const struct images *images, const struct pair *key)
{
    struct place site = place_of_site(images, key->b);

    fprintf(stream, "{\"caller\":%" PRIu32 ",\"callee\":%" PRIu32 ",", (uint32_t)(key->a >> 32),
            (uint32_t)key->a);
    write_place(stream, &site);
}

static void write_part(FILE *stream, const struct view *view, const struct part *part)
{
    char name[PART_NAME_SIZE];

    part_name(name, view->profile, part);
    putc('{', stream);
    json_write_text(stream, "name", name);
    putc(',', stream);
    write_thread(stream, view->profile, part);
    fprintf(stream, ",\"calls\":%" PRIu64, part->calls);
    write_ns(stream, view->profile, "ns", part->ns);
    fputs(",\n\"functions\":[", stream);
    for (size_t i = 0; i < part->functions.keys.count; i++) {
        fprintf(stream, "%s\n{\"function\":%" PRIu64, i ? "," : "",
                part->functions.keys.pairs[i].a);
        write_costs(stream, view->profile, &part->functions.costs[i]);
    }
    fputs("],\n\"edges\":[", stream);
    for (size_t i = 0; i < part->edges.keys.count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_edge(stream, view->images, &part->edges.keys.pairs[i]);
        write_costs(stream, view->profile, &part->edges.costs[i]);
    }
    fputs("]}", stream);
}

void json_write(FILE *stream, const struct view *view)
{
    fputs("{\"creator\":\"umbra grinder " UMBRA_VERSION "\",\n\"processes\":[", stream);
    for (size_t i = 0; i < view->profile->process_count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_process(stream, &view->profile->processes[i]);
    }
    fputs("],\n\"functions\":[", stream);
    for (uint32_t i = 0; i < images_function_count(view->images); i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_function(stream, view->images, i);
    }
    fputs("],\n\"parts\":[", stream);
    for (size_t i = view->first; i < view->first + view->count; i++) {
        fputs(i > view->first ? ",\n" : "\n", stream);
        write_part(stream, view, &view->profile->parts[i]);
    }
    fputs("]}\n", stream);
}
