/*
 * A processed profile of the Firefox Profiler (profiler.firefox.com), version 48 of that format,
 * which later ones read.
 *
 *      { "meta": {"preprocessedProfileVersion": 48, …}, "libs": [],
 *        "threads": [ { "name": …, "pid": "4711", "tid": 4711,
 *          "samples":    {"stack": [0, 1, 0, null], "time": […], "weight": […],
 *                         "weightType": "tracing-ms", "length": 4},
 *          "markers":    gaps, from their begin to their end
 *          "stackTable": {"frame": [0, 1], "prefix": [null, 0], …},
 *          "frameTable", "funcTable", "stringArray": a row for each function that was met;
 *          "resourceTable", "nativeSymbols": no rows } ] }
 *
 * A sample is a stretch of time with the same stack: it weighs as long as it lasts, and where the
 * stack is null nothing was open. Stretches without a duration are left out, so weights add up to
 * the time in calls exactly; calls are not in this format. Times are milliseconds with nanoseconds
 * behind the point.
 *
 * A column is an array, and a row is known at once: all columns of samples but the first wait in
 * files without a name, 30 bytes a row. A thread is a walk over the trace's chunks, of which those
 * of other threads are passed over unread. Memory is for distinct stacks, 24 to 40 bytes each.
 */
#include "grinder/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/decimal.h"
#include "grinder/memory.h"
#include "grinder/message.h"
#include "grinder/pair_index.h"
#include "grinder/part_name.h"
#include "grinder/symbolize.h"
#include "grinder/time_line.h"
#include "grinder/utf8.h"

struct gap {
    uint64_t from_ns, to_ns, dropped;
};

struct writer {
    FILE *stream;
    const struct view *view;
    FILE *times, *weights; /* columns of samples */
    uint64_t since;        /* ns; of the stretch that goes on */
    uint64_t samples;

    struct pair_index stacks; /* prefix, frame; both + 1. Number 0 is no stack */
    uint32_t *open;           /* stacks of the open calls */
    size_t open_count, open_room;

    uint32_t *frames;    /* by function: its frame + 1; 0: none yet */
    uint32_t *functions; /* by frame */
    size_t frame_count, frame_room;

    struct gap *gaps;
    size_t gap_count, gap_room;
};

static void write_number(FILE *stream, uint64_t number, const char *separator)
{
    char text[DECIMAL_ROOM];

    fputs(separator, stream);
    fwrite_unlocked(text, 1, (size_t)(decimal_put(text, number) - text), stream);
}

static void write_ms(FILE *stream, uint64_t ns, const char *separator)
{
    char text[DECIMAL_ROOM];

    fputs(separator, stream);
    fwrite_unlocked(text, 1, (size_t)(decimal_put_fraction(text, ns, 6) - text), stream);
}

/* The stretch up to now. */
static void write_sample(struct writer *writer, uint64_t ns)
{
    const char *separator = writer->samples ? "," : "";

    if (ns <= writer->since)
        return;
    if (writer->open_count)
        write_number(writer->stream, writer->open[writer->open_count - 1] - 1, separator);
    else
        fprintf(writer->stream, "%snull", separator);
    write_ms(writer->times, writer->since, separator);
    write_ms(writer->weights, ns - writer->since, separator);
    writer->samples++;
    writer->since = ns;
}

static uint32_t frame_of(struct writer *writer, uint32_t function)
{
    if (!writer->frames[function]) {
        writer->functions = memory_grow(writer->functions, writer->frame_count, &writer->frame_room,
                                        sizeof(*writer->functions));
        writer->functions[writer->frame_count] = function;
        writer->frames[function] = (uint32_t)++writer->frame_count;
    }
    return writer->frames[function];
}

static void see_begin(void *user, size_t thread, uint32_t function, uint64_t ns)
{
    struct writer *writer = user;
    uint32_t below = writer->open_count ? writer->open[writer->open_count - 1] : 0;

    (void)thread;
    write_sample(writer, ns);
    writer->open =
        memory_grow(writer->open, writer->open_count, &writer->open_room, sizeof(*writer->open));
    writer->open[writer->open_count++] =
        pair_index_add(&writer->stacks, below, frame_of(writer, function));
}

static void see_end(void *user, size_t thread, uint64_t ns, enum time_line_end how)
{
    struct writer *writer = user;

    (void)thread;
    (void)how;
    write_sample(writer, ns);
    writer->open_count--;
}

static void see_gap(void *user, size_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t dropped)
{
    struct writer *writer = user;

    (void)thread;
    writer->gaps =
        memory_grow(writer->gaps, writer->gap_count, &writer->gap_room, sizeof(*writer->gaps));
    writer->gaps[writer->gap_count++] = (struct gap){from_ns, to_ns, dropped};
}

/* ,"KEY":[TEXT,TEXT …], count times. */
static void write_same(FILE *stream, const char *key, const char *text, size_t count)
{
    fprintf(stream, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s", i ? "," : "", text);
    putc(']', stream);
}

/* ,"KEY":[0,1,2 …] */
static void write_counting(FILE *stream, const char *key, size_t first, size_t count)
{
    fprintf(stream, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        write_number(stream, first + i, i ? "," : "");
    putc(']', stream);
}

static void copy_column(FILE *stream, const char *key, FILE *column)
{
    char buffer[8192];
    size_t count;

    fprintf(stream, "],\n\"%s\":[", key);
    rewind(column);
    while ((count = fread(buffer, 1, sizeof(buffer), column)))
        fwrite(buffer, 1, count, stream);
}

/* Gaps are numbered among the strings, behind functions' names. */
static void write_markers(FILE *stream, const struct writer *writer)
{
    size_t count = writer->gap_count;

    fprintf(stream, ",\n\"markers\":{\"length\":%zu", count);
    write_same(stream, "data", "null", count);
    write_same(stream, "phase", "1", count);
    write_same(stream, "category", "0", count);
    write_counting(stream, "name", writer->frame_count, count);
    fputs(",\"startTime\":[", stream);
    for (size_t i = 0; i < count; i++)
        write_ms(stream, writer->gaps[i].from_ns, i ? "," : "");
    fputs("],\"endTime\":[", stream);
    for (size_t i = 0; i < count; i++)
        write_ms(stream, writer->gaps[i].to_ns, i ? "," : "");
    fputs("]}", stream);
}

static void write_stacks(FILE *stream, const struct writer *writer)
{
    size_t count = writer->stacks.count;

    fprintf(stream, ",\n\"stackTable\":{\"length\":%zu,\"frame\":[", count - 1);
    for (size_t i = 1; i < count; i++)
        write_number(stream, writer->stacks.pairs[i].b - 1, i > 1 ? "," : "");
    fputs("],\"prefix\":[", stream);
    for (size_t i = 1; i < count; i++) {
        if (writer->stacks.pairs[i].a)
            write_number(stream, writer->stacks.pairs[i].a - 1, i > 1 ? "," : "");
        else
            fprintf(stream, "%snull", i > 1 ? "," : "");
    }
    putc(']', stream);
    write_same(stream, "category", "0", count - 1);
    write_same(stream, "subcategory", "0", count - 1);
    putc('}', stream);
}

static struct place place_of_frame(const struct writer *writer, size_t frame)
{
    struct place none = {0};
    uint32_t function = writer->functions[frame];

    return function ? place_of_function(writer->view->images, function) : none;
}

/* A function's line is where it begins; "line" of a frame likewise. */
static void write_lines(FILE *stream, const char *key, const struct writer *writer)
{
    fprintf(stream, ",\"%s\":[", key);
    for (size_t i = 0; i < writer->frame_count; i++) {
        struct place place = place_of_frame(writer, i);
        if (place.line)
            write_number(stream, place.line, i ? "," : "");
        else
            fprintf(stream, "%snull", i ? "," : "");
    }
    putc(']', stream);
}

static void write_frames(FILE *stream, const struct writer *writer)
{
    size_t count = writer->frame_count;

    fprintf(stream, ",\n\"frameTable\":{\"length\":%zu", count);
    write_same(stream, "address", "-1", count);
    write_same(stream, "inlineDepth", "0", count);
    write_same(stream, "category", "0", count);
    write_same(stream, "subcategory", "0", count);
    write_counting(stream, "func", 0, count);
    write_same(stream, "nativeSymbol", "null", count);
    write_same(stream, "innerWindowID", "0", count);
    write_same(stream, "implementation", "null", count);
    write_lines(stream, "line", writer);
    write_same(stream, "column", "null", count);
    putc('}', stream);
}

/* Files are strings behind those of gaps, one for each function that has one. */
static void write_functions(FILE *stream, const struct writer *writer)
{
    size_t count = writer->frame_count, file = count + writer->gap_count;

    fprintf(stream, ",\n\"funcTable\":{\"length\":%zu", count);
    write_counting(stream, "name", 0, count);
    write_same(stream, "isJS", "false", count);
    write_same(stream, "relevantForJS", "false", count);
    write_same(stream, "resource", "-1", count);
    fputs(",\"fileName\":[", stream);
    for (size_t i = 0; i < count; i++) {
        if (place_of_frame(writer, i).file_number)
            write_number(stream, file++, i ? "," : "");
        else
            fprintf(stream, "%snull", i ? "," : "");
    }
    putc(']', stream);
    write_lines(stream, "lineNumber", writer);
    write_same(stream, "columnNumber", "null", count);
    putc('}', stream);
}

static void write_strings(FILE *stream, const struct writer *writer)
{
    fputs(",\n\"stringArray\":[", stream);
    for (size_t i = 0; i < writer->frame_count; i++) {
        fputs(i ? "," : "", stream);
        utf8_write_json(stream, time_line_name(writer->view->images, writer->functions[i]));
    }
    for (size_t i = 0; i < writer->gap_count; i++)
        fprintf(stream, "%s\"%" PRIu64 " events lost\"", i || writer->frame_count ? "," : "",
                writer->gaps[i].dropped);
    for (size_t i = 0; i < writer->frame_count; i++) {
        struct place place = place_of_frame(writer, i);
        if (!place.file_number)
            continue;
        putc(',', stream);
        utf8_write_json(stream, place.file);
    }
    putc(']', stream);
}

static void write_thread_head(struct writer *writer, size_t number, size_t thread)
{
    FILE *stream = writer->stream;
    const struct process *process = &writer->view->profile->processes[number];
    const struct trace_thread *record = &process->threads[thread].record;
    char name[PART_NAME_SIZE];

    fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
          "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"processName\":",
          stream);
    process_name(name, writer->view->profile, number);
    utf8_write_json(stream, name);
    fputs(",\"name\":", stream);
    thread_name(name, record);
    utf8_write_json(stream, name);
    fprintf(stream, ",\"isMainThread\":%s,\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32,
            record->tid == process->header.pid ? "true" : "false", process->header.pid,
            record->tid);
    fputs(",\n\"samples\":{\"weightType\":\"tracing-ms\",\"stack\":[", stream);
}

static void write_tables(struct writer *writer)
{
    FILE *stream = writer->stream;

    copy_column(stream, "time", writer->times);
    copy_column(stream, "weight", writer->weights);
    fprintf(stream, "],\"length\":%" PRIu64 "}", writer->samples);
    write_markers(stream, writer);
    write_stacks(stream, writer);
    write_frames(stream, writer);
    write_functions(stream, writer);
    fputs(",\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},"
          "\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
          "\"functionSize\":[]}",
          stream);
    write_strings(stream, writer);
    putc('}', stream);
}

/* Columns that were not written whole would be no JSON. */
static int check_columns(const struct writer *writer)
{
    if (!ferror(writer->times) && !ferror(writer->weights) && !fflush(writer->times) &&
        !fflush(writer->weights))
        return 0;
    message("expected room for temporary files, found: %s", strerror(errno));
    return -1;
}

static FILE *column_begin(void)
{
    FILE *column = tmpfile();

    if (column)
        return column;
    message("expected to make a temporary file, found: %s", strerror(errno));
    exit(EXIT_FAILURE);
}

static void thread_end(struct writer *writer)
{
    fclose(writer->times);
    fclose(writer->weights);
    pair_index_free(&writer->stacks);
    free(writer->open);
    free(writer->frames);
    free(writer->functions);
    free(writer->gaps);
}

static int write_thread(FILE *stream, const struct view *view, size_t number, size_t thread)
{
    const struct process *process = &view->profile->processes[number];
    struct writer writer = {
        .stream = stream,
        .view = view,
        .times = column_begin(),
        .weights = column_begin(),
        .frames = memory_zeroed(images_function_count(view->images), sizeof(*writer.frames)),
    };
    const struct time_line_visitor visitor = {&writer, see_begin, see_end, see_gap};
    const struct time_line_range range = {view->from_ns, view->to_ns, (uint32_t)thread + 1};
    struct time_line_facts *facts = memory_zeroed(process->thread_count, sizeof(*facts));
    struct event_totals totals;
    struct trace_error error;
    int result;

    pair_index_add(&writer.stacks, 0, UINT64_MAX);
    write_thread_head(&writer, number, thread);
    result = time_line_walk(view->profile, number, &range, &visitor, facts, &totals, &error);
    if (result < 0)
        message("%s", error.text);
    if (check_columns(&writer) < 0)
        result = -1;
    write_tables(&writer);
    thread_end(&writer);
    free(facts);
    return result;
}

static void write_meta(FILE *stream, const struct view *view)
{
    const struct trace_header *header = &view->profile->processes[0].header;

    fputs("{\"meta\":{\"preprocessedProfileVersion\":48,\"version\":27,\"interval\":1,"
          "\"processType\":0,\"stackwalk\":1,\"markerSchema\":[],\"symbolicated\":true,"
          "\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
          "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
          "\"importedFrom\":\"umbra grinder " UMBRA_VERSION "\","
          "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],"
          "\"startTime\":",
          stream);
    write_ms(stream, header->created_ns, "");
    fputs(",\"product\":", stream);
    utf8_write_json(stream, header->command);
    fputs("},\n\"libs\":[],\"threads\":[", stream);
}

int firefox_write(FILE *stream, const struct view *view)
{
    const struct profile *profile = view->profile;
    const char *separator = "\n";
    int result = 0;

    write_meta(stream, view);
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct process *process = &profile->processes[i];
        for (size_t j = 0; process->nodes && j < process->thread_count; j++) {
            if (profile->selection &&
                !selection_has_thread(profile->selection, &process->threads[j].record))
                continue;
            fputs(separator, stream);
            separator = ",\n";
            if (write_thread(stream, view, i, j) < 0)
                result = -1;
        }
    }
    fputs("]}\n", stream);
    return result;
}
