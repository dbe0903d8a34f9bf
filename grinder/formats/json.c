/*
 * All of a profile in one JSON object.
 *
 *      { "creator": "umbra grinder 0.1.0",
 *        "version": 1,
 *        "processes": [ { "pid": 4711, "ppid": 1, "fork_of_pid": 0, "command": "./fib 30",
 *                         "executable": "/home/me/fib", "trace": "traces/….bin",
 *                         "timing": "samples" }, … ],
 *        "functions": [ { "name": "fib(int)", "symbol": "_Z3fibi", "module": "/home/me/fib",
 *                         "build_id": "93ac61…", "address": "0x1139", "offset": "0x1139",
 *                         "size": 42, "file": …, "line": 12 }, … ],
 *        "parts": [ { "name": "fib 4711: main", "pid": 4711, "tid": 4711, "thread": "main",
 *                     "calls": 3, "ns": 5000,
 *                     "functions": [ {"function": 1, "calls": 1, "self_ns": 10,
 *                                     "total_ns": 5000} ],
 *                     "edges": [ {"caller": 1, "callee": 2, "return_address": "0x1170",
 *                                 "file": null, "line": null, "calls": 1, "self_ns": 10,
 *                                 "total_ns": 5000} ] }, … ] }
 *
 * Where times are made of samples, functions and edges have "samples", and "self_range_ns" and
 * "total_range_ns", lowest and highest: sample_range.h. And "waits", how many waits were noted,
 * "wait_ns", "total_wait_ns" and "longest_wait_ns"; parts have "wait_ns".
 *
 * Functions whose calls were timed each (call_times.h) have "timed_calls", "p50_ns", "p90_ns",
 * "p99_ns", "p999_ns", "longest_call_ns" and "longest_call_at_ns".
 *
 * Where instructions are counted, functions and edges have "self_instructions" and
 * "total_instructions", parts "instructions". Functions with more calls than were counted have
 * "calls_are_at_least": true.
 *
 * docs/profile.schema.json says it in full. A function's number is its place in "functions", of
 * which the first is the root. An edge is in the caller's module; there is one for each return
 * address, caller and callee. location.h says what address and offset are. What is not known is
 * null, as are times where none were recorded; so are pid, tid and thread of merged parts. Integers
 * are exact up to 2^64.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>

#include "grinder/formats/json_text.h"
#include "grinder/formats/part_name.h"
#include "grinder/profile/location.h"
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

static void write_range(FILE *stream, const char *key, struct sample_range range)
{
    fprintf(stream, ",\"%s\":[%" PRIu64 ",%" PRIu64 "]", key, range.low_ns, range.high_ns);
}

/* Null where nothing was instrumented. */
static void write_calls(FILE *stream, const struct profile *profile, uint64_t calls)
{
    if (profile_is_stacked(profile))
        fputs(",\"calls\":null", stream);
    else
        fprintf(stream, ",\"calls\":%" PRIu64, calls);
}

/* Only where times are made of samples. */
static void write_samples(FILE *stream, const struct part *part, const struct costs *costs)
{
    fprintf(stream, ",\"samples\":%" PRIu64, costs->samples);
    write_range(stream, "self_range_ns", part_range(part, costs->self_ns, costs->samples));
    write_range(stream, "total_range_ns", part_range(part, costs->total_ns, costs->total_samples));
}

/* Only where times are made of samples. */
static void write_waits(FILE *stream, const struct wait_cost *wait)
{
    fprintf(stream,
            ",\"waits\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"total_wait_ns\":%" PRIu64
            ",\"longest_wait_ns\":%" PRIu64,
            wait->count, wait->self_ns, wait->total_ns, wait->longest_ns);
}

static void write_costs(FILE *stream, const struct profile *profile, const struct part *part,
                        const struct costs *costs)
{
    write_calls(stream, profile, costs->calls);
    write_ns(stream, profile, "self_ns", costs->self_ns);
    write_ns(stream, profile, "total_ns", costs->total_ns);
    if (profile_is_sampled(profile)) {
        write_samples(stream, part, costs);
        write_waits(stream, &costs->wait);
    }
    if (profile_has_instructions(profile))
        fprintf(stream, ",\"self_instructions\":%" PRIu64 ",\"total_instructions\":%" PRIu64,
                costs->self_instructions, costs->total_instructions);
}

/* Only of functions whose calls were timed. */
static void write_times(FILE *stream, const struct call_times *times)
{
    if (!times)
        return;
    fprintf(stream, ",\"timed_calls\":%" PRIu64 ",\"mean_ns\":%" PRIu64, times->calls,
            call_times_mean_ns(times));
    for (size_t i = 0; i < CALL_TIMES_QUANTILES; i++)
        fprintf(stream, ",\"%s\":%" PRIu64, call_times_quantiles[i].key,
                call_times_quantile_ns(times, call_times_quantiles[i].share));
    fprintf(stream, ",\"longest_call_ns\":%.0f,\"longest_call_at_ns\":%.0f", times->longest_ns,
            times->longest_at_ns);
}

static const char *timing_name(const struct trace_header *header)
{
    switch (header->timing) {
    case TRACE_TIMING_EXACT:
        return "exact";
    case TRACE_TIMING_ADAPTIVE:
        return "adaptive";
    case TRACE_TIMING_SAMPLES:
        return "samples";
    default:
        return "none";
    }
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
    putc(',', stream);
    json_write_text(stream, "timing", timing_name(header));
    putc('}', stream);
}

/* A string, as `instrument --list --json` has it: a number of JSON may be rounded at 2^53. */
static void write_address(FILE *stream, const char *key, uint64_t address)
{
    if (address)
        fprintf(stream, "\"%s\":\"%#" PRIx64 "\",", key, address);
    else
        fprintf(stream, "\"%s\":null,", key);
}

static void write_location(FILE *stream, const struct location *location)
{
    char build_id[BUILD_ID_TEXT] = "";

    if (location->module)
        location_build_id(build_id, location->module);
    json_write_text(stream, "module", location->module ? location->module->path : NULL);
    putc(',', stream);
    json_write_text(stream, "build_id", *build_id ? build_id : NULL);
    putc(',', stream);
    write_address(stream, "address", location->address);
    write_address(stream, "offset", location->offset);
    if (location->size)
        fprintf(stream, "\"size\":%" PRIu64 ",", location->size);
    else
        fputs("\"size\":null,", stream);
}

static void write_function(FILE *stream, const struct images *images, uint32_t number)
{
    const struct function *function = &images->functions[number];
    struct location location = location_of_function(images, number);
    struct place place = place_of_function(images, number);

    putc('{', stream);
    json_write_text(stream, "name", function->name);
    putc(',', stream);
    json_write_text(stream, "symbol", function->symbol);
    putc(',', stream);
    write_location(stream, &location);
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
    struct location returns = location_of_return(images, key->b);
    struct place site = place_of_site(images, key->b);

    fprintf(stream, "{\"caller\":%" PRIu32 ",\"callee\":%" PRIu32 ",", (uint32_t)(key->a >> 32),
            (uint32_t)key->a);
    write_address(stream, "return_address", returns.address);
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
    write_calls(stream, view->profile, part->calls);
    write_ns(stream, view->profile, "ns", part->ns);
    if (profile_is_sampled(view->profile))
        fprintf(stream, ",\"wait_ns\":%" PRIu64, part->wait_ns);
    if (profile_has_instructions(view->profile))
        fprintf(stream, ",\"instructions\":%" PRIu64, part->instructions);
    fputs(",\n\"functions\":[", stream);
    for (size_t i = 0; i < part->functions.keys.count; i++) {
        fprintf(stream, "%s\n{\"function\":%" PRIu64, i ? "," : "",
                part->functions.keys.pairs[i].a);
        write_costs(stream, view->profile, part, &part->functions.costs[i]);
        if (view->images->functions[part->functions.keys.pairs[i].a].has_more_calls)
            fputs(",\"calls_are_at_least\":true", stream);
        write_times(stream, call_times_of(&part->times, (uint32_t)part->functions.keys.pairs[i].a));
        putc('}', stream);
    }
    fputs("],\n\"edges\":[", stream);
    for (size_t i = 0; i < part->edges.keys.count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_edge(stream, view->images, &part->edges.keys.pairs[i]);
        write_costs(stream, view->profile, part, &part->edges.costs[i]);
        putc('}', stream);
    }
    fputs("]}", stream);
}

void json_write(FILE *stream, const struct view *view)
{
    fprintf(stream, "{\"creator\":\"umbra grinder " UMBRA_VERSION "\",\n\"version\":%d,\n",
            FORMAT_VERSION);
    fputs("\"processes\":[", stream);
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
