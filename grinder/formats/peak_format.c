/*
 *      table   for each process its threads, and for each of these its chain
 *      tsv     a line of headings, and one for each row of each chain
 *      json    { "creator": "umbra grinder 0.1.0",
 *                "processes": [ { "pid": 4711, "command": "./fib 30", "trace": "traces/….bin",
 *                  "threads": [ { "thread": 1, "tid": 4711, "name": "fib", "peak": 5360,
 *                    "stack": 8388608, "calls": 32,
 *                    "chain": [ { "kind": "calls", "function": "fib", "module": "/home/me/fib",
 *                      "file": "fib.c", "line": 3, "calls": 31, "in_turn": 0, "bytes": 1440 }, … ]
 *                  }, … ] }, … ] }
 *
 * What is not known is empty in a table, null in JSON. The bytes of a chain add up to the peak.
 */
#include "grinder/formats/peak_format.h"

#include <inttypes.h>
#include <string.h>

#include "grinder/formats/json_text.h"
#include "grinder/profile/symbolize.h"
#include "support/utf8.h"

static const char *const kinds[] = {
    [PEAK_BEFORE] = "before",
    [PEAK_CALLERS] = "callers",
    [PEAK_CALLS] = "calls",
    [PEAK_UNKNOWN] = "unknown",
};

static const char *const descriptions[] = {
    [PEAK_BEFORE] = "(before the first recorded call)",
    [PEAK_CALLERS] = "(callers)",
    [PEAK_CALLS] = "(unknown)",
    [PEAK_UNKNOWN] = "(calls that are not known)",
};

static const char *name_of(const struct images *images, const struct peak_row *row)
{
    return row->function ? images->functions[row->function].name : descriptions[row->kind];
}

/* Where the stack begins with calls that are not known, nothing is known of what is above. */
static bool is_empty(const struct peak_row *row)
{
    return row->kind == PEAK_BEFORE && !row->bytes;
}

/* Calls whose bytes were seen: not those of the chain's innermost, and of one that called what is
   not known. */
static uint32_t seen_calls(const struct peak *peak, const struct peak_row *row)
{
    bool is_last = row == &peak->rows[peak->row_count - 1] || row[1].kind == PEAK_UNKNOWN;

    return row->kind == PEAK_CALLS && row->calls ? row->calls - is_last : 0;
}

static void write_row(FILE *stream, const struct images *images, const struct peak *peak,
                      const struct peak_row *row)
{
    uint32_t seen = seen_calls(peak, row);
    struct place place = place_of_function(images, row->function);

    if (row->kind == PEAK_CALLS && !seen)
        fprintf(stream, "  %12s %10s", "-", "-");
    else if (seen)
        fprintf(stream, "  %12" PRIu64 " %10" PRIu64, row->bytes, (row->bytes + seen / 2) / seen);
    else
        fprintf(stream, "  %12" PRIu64 " %10s", row->bytes, "-");
    if (row->calls)
        fprintf(stream, " %9" PRIu32 "  ", row->calls);
    else
        fprintf(stream, " %9s  ", "-");
    utf8_write_plain(stream, name_of(images, row));
    if (row->cycle)
        fprintf(stream, " (in turn with the next%s)", row->cycle == 2 ? "" : " ones");
    if (row->function && place.file_number) {
        fputs("  ", stream);
        utf8_write_plain(stream, place.file);
        fprintf(stream, ":%" PRIu32, place.line);
    }
    putc('\n', stream);
}

static void write_chain(FILE *stream, const struct images *images, const struct thread_facts *facts,
                        const struct peak *peak)
{
    fprintf(stream, "\n  thread %" PRIu32 " ", facts->record.ordinal);
    utf8_write_plain(stream, facts->record.name);
    fprintf(stream, ", %" PRIu64 " bytes, from its outermost call to its deepest\n", peak->bytes);
    fprintf(stream, "  %12s %10s %9s  %s\n", "bytes", "each", "calls", "function");
    for (size_t i = 0; i < peak->row_count; i++)
        if (!is_empty(&peak->rows[i]))
            write_row(stream, images, peak, &peak->rows[i]);
}

static void write_thread(FILE *stream, const struct thread_facts *facts, const struct peak *peak)
{
    fprintf(stream, "  %6" PRIu32, facts->record.ordinal);
    if (peak->is_known)
        fprintf(stream, " %12" PRIu64 " %12" PRIu64 " %6.2f%% %9" PRIu32 "  ", peak->bytes,
                peak->size, peak->size ? (double)peak->bytes * 100 / (double)peak->size : 0,
                peak->calls);
    else
        fprintf(stream, " %12s %12s %7s %9s  ", "-", "-", "-", "-");
    utf8_write_plain(stream, facts->record.name);
    putc('\n', stream);
}

static void write_process(FILE *stream, const struct process *process, const struct images *images)
{
    fprintf(stream, "process %" PRIu32 "  ", process->header.pid);
    utf8_write_plain(stream, process->header.command);
    fprintf(stream, "\n\n  %6s %12s %12s %7s %9s  %s\n", "thread", "peak", "stack", "used", "calls",
            "name");
    for (size_t i = 0; i < process->thread_count; i++)
        if (process->peaks[i].is_shown)
            write_thread(stream, &process->threads[i], &process->peaks[i]);
    for (size_t i = 0; i < process->thread_count; i++)
        if (process->peaks[i].is_shown && process->peaks[i].is_known)
            write_chain(stream, images, &process->threads[i], &process->peaks[i]);
}

static void write_table(FILE *stream, const struct profile *profile, const struct images *images)
{
    for (size_t i = 0; i < profile->process_count; i++) {
        if (i)
            putc('\n', stream);
        write_process(stream, &profile->processes[i], images);
    }
}

static void write_cell(FILE *stream, const char *text)
{
    utf8_write_cell(stream, text);
    putc('\t', stream);
}

static void write_tsv_row(FILE *stream, const struct images *images, const struct peak_row *row)
{
    uint32_t image = images->functions[row->function].image;
    struct place place = place_of_function(images, row->function);

    write_cell(stream, kinds[row->kind]);
    write_cell(stream, row->function ? images->functions[row->function].name : "");
    write_cell(stream, row->function && image ? images->images[image].path : "");
    write_cell(stream, row->function && place.file_number ? place.file : "");
    if (row->function && place.line)
        fprintf(stream, "%" PRIu32, place.line);
    putc('\t', stream);
    if (row->calls)
        fprintf(stream, "%" PRIu32, row->calls);
    fprintf(stream, "\t%" PRIu32 "\t%" PRIu64 "\n", row->cycle, row->bytes);
}

static void write_tsv_thread(FILE *stream, const struct process *process, size_t thread,
                             const struct images *images)
{
    const struct trace_thread *record = &process->threads[thread].record;
    const struct peak *peak = &process->peaks[thread];

    for (size_t i = 0; i < peak->row_count; i++) {
        if (is_empty(&peak->rows[i]))
            continue;
        fprintf(stream, "%" PRIu32 "\t%" PRIu32 "\t", process->header.pid, record->tid);
        write_cell(stream, record->name);
        fprintf(stream, "%" PRIu64 "\t%" PRIu64 "\t", peak->bytes, peak->size);
        write_tsv_row(stream, images, &peak->rows[i]);
    }
}

static void write_tsv(FILE *stream, const struct profile *profile, const struct images *images)
{
    fputs("pid\ttid\tthread\tpeak\tstack\tkind\tfunction\tmodule\tfile\tline\tcalls\tin_turn\t"
          "bytes\n",
          stream);
    for (size_t i = 0; i < profile->process_count; i++)
        for (size_t j = 0; j < profile->processes[i].thread_count; j++)
            if (profile->processes[i].peaks[j].is_shown)
                write_tsv_thread(stream, &profile->processes[i], j, images);
}

/* 0 is what is not known. */
static void write_number(FILE *stream, const char *key, uint64_t number)
{
    if (number)
        fprintf(stream, ",\"%s\":%" PRIu64, key, number);
    else
        fprintf(stream, ",\"%s\":null", key);
}

static void write_json_row(FILE *stream, const struct images *images, const struct peak_row *row)
{
    const struct function *function = row->function ? &images->functions[row->function] : NULL;
    struct place place = place_of_function(images, row->function);
    bool has_place = function && place.file_number;

    fprintf(stream, "{\"kind\":\"%s\",", kinds[row->kind]);
    json_write_text(stream, "function", function ? function->name : NULL);
    putc(',', stream);
    json_write_text(stream, "module",
                    function && function->image ? images->images[function->image].path : NULL);
    putc(',', stream);
    json_write_text(stream, "file", has_place ? place.file : NULL);
    write_number(stream, "line", has_place ? place.line : 0);
    write_number(stream, "calls", row->calls);
    fprintf(stream, ",\"in_turn\":%" PRIu32 ",\"bytes\":%" PRIu64 "}", row->cycle, row->bytes);
}

static void write_json_thread(FILE *stream, const struct images *images,
                              const struct thread_facts *facts, const struct peak *peak)
{
    const char *separator = "";

    fprintf(stream, "{\"thread\":%" PRIu32 ",\"tid\":%" PRIu32 ",", facts->record.ordinal,
            facts->record.tid);
    json_write_text(stream, "name", facts->record.name);
    write_number(stream, "peak", peak->bytes);
    write_number(stream, "stack", peak->size);
    write_number(stream, "calls", peak->calls);
    fputs(",\"chain\":[", stream);
    for (size_t i = 0; i < peak->row_count; i++) {
        if (is_empty(&peak->rows[i]))
            continue;
        fprintf(stream, "%s\n", separator);
        write_json_row(stream, images, &peak->rows[i]);
        separator = ",";
    }
    fputs("]}", stream);
}

static void write_json_process(FILE *stream, const struct process *process,
                               const struct images *images)
{
    const char *separator = "";

    fprintf(stream, "{\"pid\":%" PRIu32 ",", process->header.pid);
    json_write_text(stream, "command", process->header.command);
    putc(',', stream);
    json_write_text(stream, "trace", process->trace_path);
    fputs(",\"threads\":[", stream);
    for (size_t i = 0; i < process->thread_count; i++) {
        if (!process->peaks[i].is_shown)
            continue;
        fprintf(stream, "%s\n", separator);
        write_json_thread(stream, images, &process->threads[i], &process->peaks[i]);
        separator = ",";
    }
    fputs("]}", stream);
}

static void write_json(FILE *stream, const struct profile *profile, const struct images *images)
{
    fputs("{\"creator\":\"umbra grinder " UMBRA_VERSION "\",\n\"processes\":[", stream);
    for (size_t i = 0; i < profile->process_count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_json_process(stream, &profile->processes[i], images);
    }
    fputs("]}\n", stream);
}

static const struct peak_format formats_of_peaks[] = {
    {"table", write_table},
    {"tsv", write_tsv},
    {"json", write_json},
    {NULL, NULL},
};

const struct peak_format *peak_format_named(const char *name, bool to_terminal)
{
    if (!name)
        name = to_terminal ? "table" : "tsv";
    for (const struct peak_format *format = formats_of_peaks; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
