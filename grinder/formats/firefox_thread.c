#include "grinder/formats/firefox_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/decimal.h"
#include "grinder/profile/symbolize.h"
#include "support/memory.h"
#include "support/utf8.h"

#define LONG_STRETCH 10000 /* ns */

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

static void write_amount(const struct firefox_thread *thread, FILE *stream, uint64_t amount,
                         const char *separator)
{
    if (thread->weight == WEIGHT_NS)
        write_ms(stream, amount, separator);
    else
        write_number(stream, amount, separator);
}

static void write_sample(struct firefox_thread *thread, uint64_t weight)
{
    const char *separator = thread->samples ? "," : "";

    if (thread->open_count)
        write_number(thread->stream, thread->open[thread->open_count - 1] - 1, separator);
    else
        fprintf(thread->stream, "%snull", separator);
    write_amount(thread, thread->times, thread->since, separator);
    write_amount(thread, thread->weights, weight, separator);
    thread->samples++;
}

/* The stretch up to now. The reader's graph of activity takes a sample for the time around it, so a
   long stretch has a sample at its end, too, that weighs nothing. */
static void advance(struct firefox_thread *thread, uint64_t now)
{
    uint64_t weight = now - thread->since;

    if (now <= thread->since)
        return;
    write_sample(thread, weight);
    thread->since = now;
    if (weight >= LONG_STRETCH)
        write_sample(thread, 0);
}

bool firefox_thread_open(struct firefox_thread *thread, struct failure *failure)
{
    FILE *times = tmpfile(), *weights = times ? tmpfile() : NULL;

    *thread = (struct firefox_thread){.times = times, .weights = weights};
    if (weights)
        return true;
    fail_because(failure, "expected to make a temporary file, found: %s", strerror(errno));
    if (times)
        fclose(times);
    return false;
}

void firefox_thread_begin(struct firefox_thread *thread, FILE *stream, const struct images *images,
                          enum weight weight, const char *nameless, uint64_t start)
{
    *thread = (struct firefox_thread){
        .stream = stream,
        .images = images,
        .weight = weight,
        .nameless = nameless,
        .times = thread->times,
        .weights = thread->weights,
        .first = UINT64_MAX,
        .since = start,
        .frames = memory_zeroed(images_function_count(images), sizeof(*thread->frames)),
    };
    pair_index_add(&thread->stacks, 0, UINT64_MAX);
    fprintf(stream, "{\"samples\":{\"weightType\":\"%s\",\"stack\":[",
            weight == WEIGHT_NS ? "tracing-ms" : "samples");
}

static uint32_t frame_of(struct firefox_thread *thread, uint32_t function)
{
    if (!thread->frames[function]) {
        thread->functions = memory_grow(thread->functions, thread->frame_count, &thread->frame_room,
                                        sizeof(*thread->functions));
        thread->functions[thread->frame_count] = function;
        thread->frames[function] = (uint32_t)++thread->frame_count;
    }
    return thread->frames[function];
}

void firefox_thread_enter(struct firefox_thread *thread, uint32_t caller, uint32_t function,
                          uint64_t now)
{
    uint32_t below = thread->open_count ? thread->open[thread->open_count - 1] : 0;

    if (now < thread->first)
        thread->first = now;
    advance(thread, now);
    thread->open =
        memory_grow(thread->open, thread->open_count, &thread->open_room, sizeof(*thread->open));
    if (caller)
        below = pair_index_add(&thread->stacks, below, frame_of(thread, caller));
    thread->open[thread->open_count++] =
        pair_index_add(&thread->stacks, below, frame_of(thread, function));
}

void firefox_thread_leave(struct firefox_thread *thread, uint64_t now)
{
    advance(thread, now);
    thread->open_count--;
}

void firefox_thread_gap(struct firefox_thread *thread, uint64_t from_ns, uint64_t to_ns,
                        uint64_t dropped)
{
    thread->gaps =
        memory_grow(thread->gaps, thread->gap_count, &thread->gap_room, sizeof(*thread->gaps));
    thread->gaps[thread->gap_count++] = (struct firefox_gap){from_ns, to_ns, dropped};
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

/* All have one name, the string behind the functions', so that the reader has them in one row. */
static void write_markers(FILE *stream, const struct firefox_thread *thread)
{
    size_t count = thread->gap_count;

    fprintf(stream, ",\n\"markers\":{\"length\":%zu", count);
    write_same(stream, "phase", "1", count);
    write_same(stream, "category", "0", count);
    fputs(",\"name\":[", stream);
    for (size_t i = 0; i < count; i++)
        write_number(stream, thread->frame_count, i ? "," : "");
    fputs("],\"data\":[", stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%s{\"type\":\"gap\",\"events\":", i ? "," : "");
        write_number(stream, thread->gaps[i].dropped, "");
        putc('}', stream);
    }
    putc(']', stream);
    fputs(",\"startTime\":[", stream);
    for (size_t i = 0; i < count; i++)
        write_ms(stream, thread->gaps[i].from_ns, i ? "," : "");
    fputs("],\"endTime\":[", stream);
    for (size_t i = 0; i < count; i++)
        write_ms(stream, thread->gaps[i].to_ns, i ? "," : "");
    fputs("]}", stream);
}

static void write_stacks(FILE *stream, const struct firefox_thread *thread)
{
    size_t count = thread->stacks.count;

    fprintf(stream, ",\n\"stackTable\":{\"length\":%zu,\"frame\":[", count - 1);
    for (size_t i = 1; i < count; i++)
        write_number(stream, thread->stacks.pairs[i].b - 1, i > 1 ? "," : "");
    fputs("],\"prefix\":[", stream);
    for (size_t i = 1; i < count; i++) {
        if (thread->stacks.pairs[i].a)
            write_number(stream, thread->stacks.pairs[i].a - 1, i > 1 ? "," : "");
        else
            fprintf(stream, "%snull", i > 1 ? "," : "");
    }
    putc(']', stream);
    write_same(stream, "category", "0", count - 1);
    write_same(stream, "subcategory", "0", count - 1);
    putc('}', stream);
}

static struct place place_of_frame(const struct firefox_thread *thread, size_t frame)
{
    struct place none = {0};
    uint32_t function = thread->functions[frame];

    return function ? place_of_function(thread->images, function) : none;
}

/* A function's line, and a frame's "line", is where the function begins. */
static void write_lines(FILE *stream, const char *key, const struct firefox_thread *thread)
{
    fprintf(stream, ",\"%s\":[", key);
    for (size_t i = 0; i < thread->frame_count; i++) {
        struct place place = place_of_frame(thread, i);
        if (place.line)
            write_number(stream, place.line, i ? "," : "");
        else
            fprintf(stream, "%snull", i ? "," : "");
    }
    putc(']', stream);
}

static void write_frames(FILE *stream, const struct firefox_thread *thread)
{
    size_t count = thread->frame_count;

    fprintf(stream, ",\n\"frameTable\":{\"length\":%zu", count);
    write_same(stream, "address", "-1", count);
    write_same(stream, "inlineDepth", "0", count);
    write_same(stream, "category", "0", count);
    write_same(stream, "subcategory", "0", count);
    write_counting(stream, "func", 0, count);
    write_same(stream, "nativeSymbol", "null", count);
    write_same(stream, "innerWindowID", "0", count);
    write_same(stream, "implementation", "null", count);
    write_lines(stream, "line", thread);
    write_same(stream, "column", "null", count);
    putc('}', stream);
}

/* Files are strings behind that of gaps, one for each function that has one. */
static void write_functions(FILE *stream, const struct firefox_thread *thread)
{
    size_t count = thread->frame_count, file = count + (thread->gap_count != 0);

    fprintf(stream, ",\n\"funcTable\":{\"length\":%zu", count);
    write_counting(stream, "name", 0, count);
    write_same(stream, "isJS", "false", count);
    write_same(stream, "relevantForJS", "false", count);
    write_same(stream, "resource", "-1", count);
    fputs(",\"fileName\":[", stream);
    for (size_t i = 0; i < count; i++) {
        if (place_of_frame(thread, i).file_number)
            write_number(stream, file++, i ? "," : "");
        else
            fprintf(stream, "%snull", i ? "," : "");
    }
    putc(']', stream);
    write_lines(stream, "lineNumber", thread);
    write_same(stream, "columnNumber", "null", count);
    putc('}', stream);
}

static const char *name_of(const struct firefox_thread *thread, uint32_t function)
{
    return function ? thread->images->functions[function].name : thread->nameless;
}

static void write_strings(FILE *stream, const struct firefox_thread *thread)
{
    fputs(",\n\"stringArray\":[", stream);
    for (size_t i = 0; i < thread->frame_count; i++) {
        fputs(i ? "," : "", stream);
        utf8_write_json(stream, name_of(thread, thread->functions[i]));
    }
    if (thread->gap_count)
        fprintf(stream, "%s\"events lost\"", thread->frame_count ? "," : "");
    for (size_t i = 0; i < thread->frame_count; i++) {
        struct place place = place_of_frame(thread, i);
        if (!place.file_number)
            continue;
        putc(',', stream);
        utf8_write_json(stream, place.file);
    }
    putc(']', stream);
}

static void write_names(const struct firefox_thread *thread,
                        const struct firefox_thread_names *names)
{
    FILE *stream = thread->stream;

    fputs(",\n\"processName\":", stream);
    utf8_write_json(stream, names->process);
    fputs(",\"name\":", stream);
    utf8_write_json(stream, names->thread);
    fprintf(stream, ",\"pid\":\"%s\",\"tid\":%" PRIu32 ",\"isMainThread\":%s", names->pid,
            names->tid, names->is_main ? "true" : "false");
    fputs(",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
          "\"pausedRanges\":[],\"registerTime\":",
          stream);
    write_amount(thread, stream, thread->first < thread->since ? thread->first : thread->since, "");
    fputs(",\"unregisterTime\":", stream);
    write_amount(thread, stream, thread->since, "");
}

static void write_tables(const struct firefox_thread *thread)
{
    FILE *stream = thread->stream;

    copy_column(stream, "time", thread->times);
    copy_column(stream, "weight", thread->weights);
    fprintf(stream, "],\"length\":%" PRIu64 "}", thread->samples);
    write_markers(stream, thread);
    write_stacks(stream, thread);
    write_frames(stream, thread);
    write_functions(stream, thread);
    fputs(",\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},"
          "\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
          "\"functionSize\":[]}",
          stream);
    write_strings(stream, thread);
}

/* Columns that were not written whole would be no JSON. */
static bool check_columns(const struct firefox_thread *thread, struct failure *failure)
{
    errno = 0;
    if (!fflush(thread->times) && !fflush(thread->weights) && !ferror(thread->times) &&
        !ferror(thread->weights))
        return true;
    return fail_because(failure, "expected room for temporary files, found: %s",
                        errno ? strerror(errno) : "an earlier write failed");
}

bool firefox_thread_end(struct firefox_thread *thread, const struct firefox_thread_names *names,
                        struct failure *failure)
{
    bool is_whole;

    write_sample(thread, 0);
    is_whole = check_columns(thread, failure);
    write_tables(thread);
    write_names(thread, names);
    putc('}', thread->stream);
    fclose(thread->times);
    fclose(thread->weights);
    pair_index_free(&thread->stacks);
    free(thread->open);
    free(thread->frames);
    free(thread->functions);
    free(thread->gaps);
    return is_whole;
}
