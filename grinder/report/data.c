/*
 * The data of a page: one JSON object, tables by column, so that 50,000 functions are a handful of
 * arrays. What is referred to by number is the place in its table; -1 and 0 stand for none.
 *
 *      { "creator": "umbra grinder 0.1.0",
 *        "sampled": whether times are of the processor, by samples
 *        "counts": what is counted: calls, or samples, where nothing was instrumented
 *        "title": "fib",
 *        "processes": { "name": […], "command": […], "trace": […], "ns": […] },
 *        "tree":      { "depth", "pid", "command", "wall", "cpu", "calls", "folded", "shown" }
 *                     processes of the recording; folded: how many the last one stands for
 *        "programs":  { "name", "times", "wall", "cpu", "calls" }   sums of all processes of each
 *        "modules":   [ path, … ]                            [0] is the unknown one
 *        "files":     { "path": […], "state": […] }          [0]: unknown; enum report_file_state
 *        "functions": { "name", "aliases", "module", "file", "line", "chunk" }   [0] is the root
 *        "time_bounds": [ ticks, … ]  where each bucket of times begins, and where the last ends;
 *                                     empty if no calls were timed each
 *        "cover":     { "files": { "id", "all", "ran" }, "missed": [ [ line, … ] of each file, … ],
 *                       "functions": { "id", "all", "ran" }, "modules": the same }
 *                     how many lines of a file and blocks of the others there are, and how many of
 *                     them ran; only if blocks were noted
 *        "parts": [ { "name", "process", "calls", "ns", "samples", "waited",
 *                     "functions": { "id", "calls", "self", "total", "samples", "total_samples" },
 *                     "waits":     { "id", "count", "self", "total", "longest" },
 *                     "instructions": { "id", "self", "total" },
 *                     "times":     { "id", "calls", "longest", "at", "tick", "bucket", "count" },
 *                     "edges":     { "from", "to", "at", "file", "line", "calls", "self", "total",
 *                                    "samples", "total_samples" },
 *                     "hits": null or samples one by one: hit_columns.h draws them
 *                   }, … ],
 *        "slices": null or
 *                  { "columns": at most 100, "ns": width of one, "cut": whether the end is missing,
 *                    "parts": [ { "id", "peak", "first", "total", "self" }, … ] } }
 *
 * Times are in nanoseconds. at of an edge is the call's last byte, counted from the entry of its
 * function. samples and total_samples are those that self and total are made of: only if sampled.
 *
 * waits are those of functions that waited, instructions those of functions that executed some,
 * where they are counted; times those of functions whose calls were timed each (struct call_times):
 * at is when the longest call ended, counted from where slices begin, -1 if that is not known; tick
 * is how long one takes, bucket lists the buckets that are not empty, count the calls in them.
 *
 * A row of slices is two strings of which each character, of 64, is a column's share of peak ns;
 * those before first and behind the end of the string are 0.
 */
#include "grinder/report/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/formats/part_name.h"
#include "grinder/profile/own_name.h"
#include "grinder/profile/symbolize.h"
#include "grinder/report/hit_columns.h"
#include "grinder/report/processes.h"
#include "grinder/report/ran.h"
#include "support/memory.h"
#include "trace/time_buckets.h"

static const char levels[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
#define TOP_LEVEL 63

/* What the elements of columns are taken from. */
struct column_source {
    const struct report *report;
    const struct report_files *files;
    const uint32_t *chunk_of;
    const struct part *part;
};

typedef void write_element(FILE *stream, const struct column_source *source, size_t i);

static void write_column(FILE *stream, const char *name, size_t first, size_t count,
                         const struct column_source *source, write_element *element)
{
    fprintf(stream, "\"%s\":[", name);
    for (size_t i = first; i < count; i++) {
        if (i > first)
            putc(',', stream);
        element(stream, source, i);
    }
    putc(']', stream);
}

struct column {
    const char *name;
    write_element *element;
};

/* {"name":[…],"other name":[…]} of count elements; columns end with a null name. */
static void write_columns(FILE *stream, const struct column *columns, size_t count,
                          const struct column_source *source)
{
    for (const struct column *column = columns; column->name; column++) {
        fputs(column == columns ? "{" : ",\n", stream);
        write_column(stream, column->name, 0, count, source, column->element);
    }
    putc('}', stream);
}

#define SAMPLE_COLUMNS 2 /* at the end of columns: samples, total_samples */

/* Columns of costs, of which the last ones are written only if there are samples. */
static void write_timed_columns(FILE *stream, const struct column *columns, size_t count,
                                const struct column_source *source)
{
    struct column shown[16];
    size_t columns_shown = 0;

    while (columns[columns_shown].name) {
        shown[columns_shown] = columns[columns_shown];
        columns_shown++;
    }
    if (!profile_is_sampled(source->report->profile))
        columns_shown -= SAMPLE_COLUMNS;
    shown[columns_shown] = (struct column){NULL, NULL};
    write_columns(stream, shown, count, source);
}

/* Processes. */

static void write_process_name(FILE *stream, const struct column_source *source, size_t i)
{
    char name[PART_NAME_SIZE];

    process_name(name, source->report->profile, i);
    page_write_text(stream, name);
}

static void write_command(FILE *stream, const struct column_source *source, size_t i)
{
    page_write_text(stream, source->report->profile->processes[i].header.command);
}

static void write_trace(FILE *stream, const struct column_source *source, size_t i)
{
    page_write_text(stream, source->report->profile->processes[i].trace_path);
}

static void write_duration(FILE *stream, const struct column_source *source, size_t i)
{
    const struct trace_header *header = &source->report->profile->processes[i].header;
    uint64_t end = header->end_ticks ? header->end_ticks : header->end_seen_ticks;
    double ticks = end > header->start_ticks ? (double)(end - header->start_ticks) : 0;

    fprintf(stream, "%.0f", ticks * 1e9 / (double)header->ticks_per_second);
}

static void write_processes(FILE *stream, const struct column_source *source)
{
    static const struct column columns[] = {
        {"name", write_process_name},
        {"command", write_command},
        {"trace", write_trace},
        {"ns", write_duration},
        {NULL, NULL},
    };

    fputs("\"processes\":", stream);
    write_columns(stream, columns, source->report->profile->process_count, source);
    fputs(",\n", stream);
}

/* Modules, files, functions. */

static void write_module(FILE *stream, const struct column_source *source, size_t i)
{
    page_write_text(stream, i ? source->report->images->images[i].path : "");
}

static void write_file_path(FILE *stream, const struct column_source *source, size_t i)
{
    page_write_text(stream, i ? source->files->files[i].path : "");
}

static void write_file_state(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%d", source->files->files[i].state);
}

static void write_function_name(FILE *stream, const struct column_source *source, size_t i)
{
    page_write_text(stream, source->report->images->functions[i].name);
}

static bool is_mangled(const char *symbol)
{
    return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2);
}

/* Words to find it by. Of mangled names most would be demangled to the function's own. */
static void write_function_aliases(FILE *stream, const struct column_source *source, size_t i)
{
    const char *aliases = source->report->images->functions[i].aliases, *alias;
    char *words, *end;
    size_t size = 0;

    for (alias = aliases; alias && *alias; alias += strlen(alias) + 1)
        size += strlen(alias) + 1;
    words = end = memory_zeroed(size + 1, 1);
    for (alias = aliases; alias && *alias; alias += strlen(alias) + 1)
        if (!is_mangled(alias))
            end += sprintf(end, "%s%s", end > words ? " " : "", alias);
    page_write_text(stream, words);
    free(words);
}

static void write_function_module(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32, source->report->images->functions[i].image);
}

static void write_function_file(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32, i ? report_file_of(source->files, source->report, (uint32_t)i) : 0);
}

static void write_function_line(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32,
            i ? place_of_function(source->report->images, (uint32_t)i).line : 0);
}

static void write_function_chunk(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRId32, (int32_t)source->chunk_of[i]);
}

static void write_functions(FILE *stream, const struct column_source *source)
{
    static const struct column file_columns[] = {
        {"path", write_file_path}, {"state", write_file_state}, {NULL, NULL}};
    static const struct column columns[] = {
        {"name", write_function_name},
        {"aliases", write_function_aliases},
        {"module", write_function_module},
        {"file", write_function_file},
        {"line", write_function_line},
        {"chunk", write_function_chunk},
        {NULL, NULL},
    };

    write_column(stream, "modules", 0, source->report->images->count, source, write_module);
    fputs(",\n\"files\":", stream);
    write_columns(stream, file_columns, source->files->count, source);
    fputs(",\n\"functions\":", stream);
    write_columns(stream, columns, images_function_count(source->report->images), source);
    fputs(",\n", stream);
}

/* Parts. */

static void write_id(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu64, source->part->functions.keys.pairs[i].a);
}

#define COST_ELEMENT(name, table, field)                                                           \
    static void name(FILE *stream, const struct column_source *source, size_t i)                   \
    {                                                                                              \
        fprintf(stream, "%" PRIu64, source->part->table.costs[i].field);                           \
    }

COST_ELEMENT(write_calls, functions, calls)
COST_ELEMENT(write_self, functions, self_ns)
COST_ELEMENT(write_total, functions, total_ns)
COST_ELEMENT(write_samples, functions, samples)
COST_ELEMENT(write_total_samples, functions, total_samples)
COST_ELEMENT(write_edge_calls, edges, calls)
COST_ELEMENT(write_edge_self, edges, self_ns)
COST_ELEMENT(write_edge_total, edges, total_ns)
COST_ELEMENT(write_edge_samples, edges, samples)
COST_ELEMENT(write_edge_total_samples, edges, total_samples)

static void write_from(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32, (uint32_t)(source->part->edges.keys.pairs[i].a >> 32));
}

static void write_to(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32, (uint32_t)source->part->edges.keys.pairs[i].a);
}

static void write_at(FILE *stream, const struct column_source *source, size_t i)
{
    const struct pair *key = &source->part->edges.keys.pairs[i];
    const struct function *from = &source->report->images->functions[key->a >> 32];

    if (!key->b || (uint32_t)(key->b >> 32) != from->image)
        fputs("-1", stream);
    else
        fprintf(stream, "%" PRId64, (int64_t)(uint32_t)key->b - (int64_t)from->rva);
}

static void write_edge_file(FILE *stream, const struct column_source *source, size_t i)
{
    struct place place = place_of_site(source->report->images, source->part->edges.keys.pairs[i].b);

    fprintf(stream, "%" PRIu32, source->files->of_place[place.file_number]);
}

static void write_edge_line(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32,
            place_of_site(source->report->images, source->part->edges.keys.pairs[i].b).line);
}

static void write_edges(FILE *stream, const struct column_source *source)
{
    static const struct column columns[] = {
        {"from", write_from},
        {"to", write_to},
        {"at", write_at},
        {"file", write_edge_file},
        {"line", write_edge_line},
        {"calls", write_edge_calls},
        {"self", write_edge_self},
        {"total", write_edge_total},
        {"samples", write_edge_samples},
        {"total_samples", write_edge_total_samples},
        {NULL, NULL},
    };

    fputs(",\n\"edges\":", stream);
    write_timed_columns(stream, columns, source->part->edges.keys.count, source);
}

COST_ELEMENT(write_wait_count, functions, wait.count)
COST_ELEMENT(write_wait_self, functions, wait.self_ns)
COST_ELEMENT(write_wait_total, functions, wait.total_ns)
COST_ELEMENT(write_wait_longest, functions, wait.longest_ns)

/* Columns of those functions that have any such figures. */
static void write_some(FILE *stream, const struct column *columns,
                       const struct column_source *source, bool has_any(const struct costs *costs))
{
    const struct cost_table *functions = &source->part->functions;

    for (size_t c = 0; columns[c].name; c++) {
        const char *between = "";

        fprintf(stream, "%c\"%s\":[", c ? ',' : '{', columns[c].name);
        for (size_t i = 0; i < functions->keys.count; i++) {
            if (!has_any(&functions->costs[i]))
                continue;
            fputs(between, stream);
            columns[c].element(stream, source, i);
            between = ",";
        }
        putc(']', stream);
    }
    putc('}', stream);
}

static bool has_waited(const struct costs *costs)
{
    return costs->wait.self_ns || costs->wait.total_ns;
}

static void write_waits(FILE *stream, const struct column_source *source)
{
    static const struct column columns[] = {
        {"id", write_id},
        {"count", write_wait_count},
        {"self", write_wait_self},
        {"total", write_wait_total},
        {"longest", write_wait_longest},
        {NULL, NULL},
    };

    fputs(",\n\"waits\":", stream);
    write_some(stream, columns, source, has_waited);
}

COST_ELEMENT(write_self_instructions, functions, self_instructions)
COST_ELEMENT(write_total_instructions, functions, total_instructions)

static bool has_instructions(const struct costs *costs)
{
    return costs->self_instructions || costs->total_instructions;
}

static void write_instructions(FILE *stream, const struct column_source *source)
{
    static const struct column columns[] = {
        {"id", write_id},
        {"self", write_self_instructions},
        {"total", write_total_instructions},
        {NULL, NULL},
    };

    fputs(",\n\"instructions\":", stream);
    write_some(stream, columns, source, has_instructions);
}

/* Times of calls. */

static const struct call_times *times_at(const struct column_source *source, size_t i)
{
    return &source->part->times.items[i];
}

static void write_times_id(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu32, times_at(source, i)->function);
}

static void write_times_calls(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%" PRIu64, times_at(source, i)->calls);
}

static void write_times_longest(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%.0f", times_at(source, i)->longest_ns);
}

/* The process's own clock begins with it, those of slices with the first process. */
static void write_times_at(FILE *stream, const struct column_source *source, size_t i)
{
    const struct profile *profile = source->report->profile;
    uint64_t created_ns = profile->processes[source->part->process].header.created_ns;

    if (profile->merged && profile->process_count > 1)
        fputs("-1", stream);
    else
        fprintf(stream, "%.0f",
                (double)(created_ns - slices_begin_ns(profile)) +
                    times_at(source, i)->longest_at_ns);
}

static void write_times_tick(FILE *stream, const struct column_source *source, size_t i)
{
    fprintf(stream, "%.9g", times_at(source, i)->ns_per_tick);
}

typedef void write_bucket(FILE *stream, const uint64_t *buckets, uint32_t bucket);

static void write_bucket_number(FILE *stream, const uint64_t *buckets, uint32_t bucket)
{
    (void)buckets;
    fprintf(stream, "%" PRIu32, bucket);
}

static void write_bucket_count(FILE *stream, const uint64_t *buckets, uint32_t bucket)
{
    fprintf(stream, "%" PRIu64, buckets[bucket]);
}

/* Writes the buckets that are not empty. */
static void write_buckets(FILE *stream, const uint64_t *buckets, write_bucket *element)
{
    const char *between = "";

    putc('[', stream);
    for (uint32_t bucket = 0; bucket < TIME_BUCKETS; bucket++) {
        if (!buckets[bucket])
            continue;
        fputs(between, stream);
        element(stream, buckets, bucket);
        between = ",";
    }
    putc(']', stream);
}

static void write_times_bucket(FILE *stream, const struct column_source *source, size_t i)
{
    write_buckets(stream, times_at(source, i)->buckets, write_bucket_number);
}

static void write_times_count(FILE *stream, const struct column_source *source, size_t i)
{
    write_buckets(stream, times_at(source, i)->buckets, write_bucket_count);
}

static void write_times(FILE *stream, const struct column_source *source)
{
    static const struct column columns[] = {
        {"id", write_times_id},           {"calls", write_times_calls},
        {"longest", write_times_longest}, {"at", write_times_at},
        {"tick", write_times_tick},       {"bucket", write_times_bucket},
        {"count", write_times_count},     {NULL, NULL},
    };

    fputs(",\n\"times\":", stream);
    write_columns(stream, columns, source->part->times.count, source);
}

static void write_time_bounds(FILE *stream, const struct profile *profile)
{
    bool are_timed = false;

    for (size_t i = 0; i < profile->part_count; i++)
        are_timed |= profile->parts[i].times.count > 0;
    fputs("\"time_bounds\":[", stream);
    for (uint32_t bucket = 0; are_timed && bucket <= TIME_BUCKETS; bucket++)
        fprintf(stream, "%s%" PRIu64, bucket ? "," : "", time_bucket_least(bucket));
    fputs("],\n", stream);
}

static void write_part(FILE *stream, const struct column_source *source)
{
    static const struct column columns[] = {
        {"id", write_id},       {"calls", write_calls},     {"self", write_self},
        {"total", write_total}, {"samples", write_samples}, {"total_samples", write_total_samples},
        {NULL, NULL},
    };
    const struct part *part = source->part;
    char name[PART_NAME_SIZE];

    part_name(name, source->report->profile, part);
    fputs("{\"name\":", stream);
    page_write_text(stream, name);
    fprintf(stream,
            ",\"process\":%zu,\"calls\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"samples\":%" PRIu64
            ",\"waited\":%" PRIu64 ",\n\"functions\":",
            part->process, part->calls, part->ns, part->samples, part->wait_ns);
    write_timed_columns(stream, columns, part->functions.keys.count, source);
    write_waits(stream, source);
    write_instructions(stream, source);
    write_times(stream, source);
    write_edges(stream, source);
    fputs(",\n\"hits\":", stream);
    hit_columns_write(stream, source->report, source->files, part);
    putc('}', stream);
}

/* Slices. */

static float peak_of(const struct slice_row *row)
{
    float peak = 0;

    for (size_t i = 0; i < SLICE_COLUMNS; i++) {
        peak = fmaxf(peak, row->total[i]);
        peak = fmaxf(peak, row->self[i]);
    }
    return peak;
}

/* The nearest; but a trace of a function shows: what is not nothing is at least level 1. */
static int level_of(float value, float peak)
{
    if (!(value > 0))
        return 0;
    return (int)fmaxf(1, fminf(TOP_LEVEL, roundf(value / peak * TOP_LEVEL)));
}

/* Levels from first on, those at the end that are 0 left out. */
static void write_levels(FILE *stream, const float *columns, float peak, size_t first)
{
    size_t end = SLICE_COLUMNS;

    while (end > first && !level_of(columns[end - 1], peak))
        end--;
    putc('"', stream);
    for (size_t i = first; i < end; i++)
        putc(levels[level_of(columns[i], peak)], stream);
    putc('"', stream);
}

static size_t first_of(const struct slice_row *row, float peak)
{
    size_t first = 0;

    while (first < SLICE_COLUMNS && !level_of(row->total[first], peak) &&
           !level_of(row->self[first], peak))
        first++;
    return first;
}

enum slice_column { SLICE_ID, SLICE_PEAK, SLICE_FIRST, SLICE_TOTAL, SLICE_SELF };

static void write_slice(FILE *stream, uint64_t function, const struct slice_row *row,
                        enum slice_column column)
{
    float peak = peak_of(row);
    size_t first = first_of(row, peak);

    switch (column) {
    case SLICE_ID:
        fprintf(stream, "%" PRIu64, function);
        break;
    case SLICE_PEAK:
        fprintf(stream, "%.0f", (double)peak);
        break;
    case SLICE_FIRST:
        fprintf(stream, "%zu", first);
        break;
    case SLICE_TOTAL:
        write_levels(stream, row->total, peak, first);
        break;
    case SLICE_SELF:
        write_levels(stream, row->self, peak, first);
        break;
    }
}

static void write_slices_of(FILE *stream, const struct slices *slices, size_t part)
{
    static const char *const names[] = {"id", "peak", "first", "total", "self"};

    putc('{', stream);
    for (enum slice_column column = SLICE_ID; column <= SLICE_SELF; column++) {
        const char *comma = "";
        fprintf(stream, "%s\"%s\":[", column ? "," : "", names[column]);
        for (size_t i = 0; i < slices->keys.count; i++) {
            const struct pair *key = &slices->keys.pairs[i];
            if (key->a != part || peak_of(&slices->rows[i]) <= 0)
                continue;
            fputs(comma, stream);
            write_slice(stream, key->b, &slices->rows[i], column);
            comma = ",";
        }
        putc(']', stream);
    }
    putc('}', stream);
}

static void write_slices(FILE *stream, const struct slices *slices, size_t parts)
{
    if (!slices->traces) {
        fputs("\"slices\":null", stream);
        return;
    }
    fprintf(stream, "\"slices\":{\"columns\":%zu,\"ns\":%.0f,\"cut\":%s,\"parts\":[",
            slices->columns, slices->column_ns, slices->cut ? "true" : "false");
    for (size_t i = 0; i < parts; i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_slices_of(stream, slices, i);
    }
    fputs("]}", stream);
}

static void write_title(FILE *stream, const struct profile *profile)
{
    const struct trace_header *header = &profile->processes[0].header;
    char name[PART_NAME_SIZE], own[OWN_NAME_SIZE];

    for (size_t i = 1; i < profile->process_count; i++) {
        const struct trace_header *other = &profile->processes[i].header;
        if (other->pid == header->pid && other->created_ns > header->created_ns)
            header = other; /* what it became by exec */
    }
    own_name(own, header);
    snprintf(name, sizeof(name), "%s %" PRIu32, own, header->pid);
    fprintf(stream, "\"sampled\":%s,\n\"counts\":\"%s\",\n\"title\":",
            profile_is_sampled(profile) ? "true" : "false", profile_counts(profile));
    page_write_text(stream, name);
    fputs(",\n", stream);
}

void data_write(FILE *stream, const struct report *report, const struct report_files *files,
                const uint32_t *chunk_of, const struct slices *slices)
{
    const struct profile *profile = report->profile;
    struct column_source source = {report, files, chunk_of, NULL};

    fputs("{\"creator\":\"umbra grinder " UMBRA_VERSION "\",", stream);
    write_title(stream, profile);
    write_processes(stream, &source);
    processes_write(stream, report);
    write_functions(stream, &source);
    write_time_bounds(stream, profile);
    if (report->coverage) {
        fputs("\"cover\":", stream);
        ran_write(stream, report, files);
        fputs(",\n", stream);
    }
    fputs("\"parts\":[", stream);
    for (size_t i = 0; i < profile->part_count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        source.part = &profile->parts[i];
        write_part(stream, &source);
    }
    fputs("],\n", stream);
    write_slices(stream, slices, profile->part_count);
    putc('}', stream);
}
