/*
 * Callgrind's format, as read by KCachegrind and callgrind_annotate.
 *
 *      # callgrind format
 *      version: 1
 *      creator: …
 *                                  one such header a part, "events:" last: with the next
 *      pid: 1234                   "pid:" behind it KCachegrind begins a new part;
 *                                  callgrind_annotate takes files of one part only: of more it
 *                                  calls headers malformed, and the last part's summary the total
 *      cmd: ./fib 30
 *      part: 1
 *      thread: 1
 *      desc: Trigger: worker       KCachegrind shows this as the part's name; of several processes
 *                                  it is that of part_name.h
 *      positions: line
 *      event: ns : Nanoseconds             or, by samples, CPU nanoseconds, and behind ns
 *                                          Wait: what threads waited
 *      events: ns Calls
 *      summary: 5000 3
 *
 *      ob=(1) /home/me/fib         names are numbered, anew in each part
 *      fl=(1) /home/me/fib.c
 *      fn=(1) main
 *      12 1000 1                   line, self ns, entries of main
 *      cob=(1)
 *      cfi=(1)
 *      cfn=(2) fib
 *      calls=1 5                   calls from this site, line where fib begins
 *      14 4000 2                   line of the call, inclusive ns, inclusive entries
 *
 *      totals: 5000 3
 *
 * Where times are not known, Calls is the only event. Where instructions are counted, they are the
 * first:
 *
 *      event: Ir : Instructions executed
 *      …
 *      events: Ir ns Calls
 *
 * Where blocks are counted, too, and the part is all that ran, functions have instructions by line:
 *
 *      fn=(1) main
 *      13 20 0 0                   Ir of a line
 *      fi=(2) /usr/include/x.h     of what is inlined
 *      40 6 0 0
 *      fe=(1)
 *      12 3 1000 1                 what is of no known line, and the function's other costs
 *
 * A call site in another file than its function (an inlined body, a header) stands under fi=,
 * and fe= goes back, at the latest at the function's end. Calls at the same line of the same file
 * to the same function are one. Functions that nobody recorded called are called by the function
 * "(root)", so that what goes into a function always adds up to its inclusive cost. cost.c says
 * what that is in recursion.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/formats/counted_lines.h"
#include "grinder/formats/part_name.h"
#include "grinder/profile/symbolize.h"
#include "support/memory.h"
#include "support/utf8.h"

/* A call edge, ready to be sorted and written. */
struct row {
    uint32_t caller;
    uint32_t callee;
    struct place site;
    struct costs costs;
};

struct writer {
    FILE *stream;
    const struct profile *profile;
    const struct images *images;
    struct counted_lines lines;
    /* By number: the part in which the name was last written in full. */
    size_t *function_part, *file_part, *object_part;
    size_t part_number; /* from 1 */
    uint32_t file;      /* number of the file that cost lines belong to */
};

/* What a line of costs has of each event. */
struct event_costs {
    uint64_t instructions, ns, wait_ns, calls;
};

/* The end of a line of costs. */
static void write_costs(const struct writer *writer, const struct event_costs *costs)
{
    if (profile_has_instructions(writer->profile))
        fprintf(writer->stream, " %" PRIu64, costs->instructions);
    if (profile_has_times(writer->profile))
        fprintf(writer->stream, " %" PRIu64, costs->ns);
    if (profile_is_sampled(writer->profile))
        fprintf(writer->stream, " %" PRIu64, costs->wait_ns);
    fprintf(writer->stream, " %" PRIu64 "\n", costs->calls);
}

static struct event_costs self_costs(const struct costs *costs)
{
    return (struct event_costs){
        .instructions = costs->self_instructions,
        .ns = costs->self_ns,
        .wait_ns = costs->wait.self_ns,
        .calls = costs->calls,
    };
}

static struct event_costs total_costs(const struct costs *costs)
{
    return (struct event_costs){
        .instructions = costs->total_instructions,
        .ns = costs->total_ns,
        .wait_ns = costs->wait.total_ns,
        .calls = costs->total_calls,
    };
}

static struct event_costs costs_of_part(const struct part *part)
{
    return (struct event_costs){
        .instructions = part->instructions,
        .ns = part->ns,
        .wait_ns = part->wait_ns,
        .calls = part->calls,
    };
}

/* "key=(number) name" the first time in a part, "key=(number)" from then on. */
static void write_name(struct writer *writer, const char *key, size_t *written, uint32_t number,
                       const char *name)
{
    fprintf(writer->stream, "%s=(%" PRIu32 ")", key, number + 1);
    if (written[number] != writer->part_number) {
        putc(' ', writer->stream);
        utf8_write_plain(writer->stream, name);
    }
    written[number] = writer->part_number;
    putc('\n', writer->stream);
}

static void write_object(struct writer *writer, const char *key, uint32_t function)
{
    uint32_t image = writer->images->functions[function].image;

    write_name(writer, key, writer->object_part, image,
               image ? writer->images->images[image].path : "???");
}

static void write_file(struct writer *writer, const char *key, const struct place *place)
{
    write_name(writer, key, writer->file_part, place->file_number, place->file);
}

static void write_function_name(struct writer *writer, const char *key, uint32_t function)
{
    write_name(writer, key, writer->function_part, function,
               writer->images->functions[function].name);
}

/* Cost lines from here on are of file, in a function of own's file. */
static void enter_file(struct writer *writer, const struct place *file, const struct place *own)
{
    if (file->file_number == writer->file)
        return;
    write_file(writer, file->file_number == own->file_number ? "fe" : "fi", file);
    writer->file = file->file_number;
}

static void write_call(struct writer *writer, const struct row *row, const struct place *own)
{
    struct place callee = place_of_function(writer->images, row->callee);
    struct event_costs costs = total_costs(&row->costs);

    enter_file(writer, row->site.file_number ? &row->site : own, own);
    write_object(writer, "cob", row->callee);
    write_file(writer, "cfi", &callee);
    write_function_name(writer, "cfn", row->callee);
    /* What was not counted is how often it was seen. */
    fprintf(writer->stream, "calls=%" PRIu64 " %" PRIu32 "\n",
            profile_is_stacked(writer->profile) ? row->costs.total_samples : row->costs.calls,
            callee.line);
    fprintf(writer->stream, "%" PRIu32, row->site.line);
    write_costs(writer, &costs);
}

/* What the function executed, line by line. Returns the rest, which is all of it where lines have
   more: blocks have what a child ran before its first call. */
static uint64_t write_lines(struct writer *writer, uint32_t function, uint64_t instructions,
                            const struct place *own)
{
    size_t count;
    uint64_t sum;
    const struct counted_line *lines = counted_lines_of(&writer->lines, function, &count, &sum);

    if (sum > instructions)
        return instructions;
    for (size_t i = 0; i < count; i++) {
        const struct event_costs costs = {.instructions = lines[i].instructions};

        enter_file(writer, &lines[i].place, own);
        fprintf(writer->stream, "%" PRIu32, lines[i].place.line);
        write_costs(writer, &costs);
    }
    enter_file(writer, own, own);
    return instructions - sum;
}

static void write_function(struct writer *writer, uint32_t function, const struct costs *costs,
                           const struct row *rows, size_t row_count)
{
    struct place own = place_of_function(writer->images, function);
    struct event_costs self = self_costs(costs);

    putc('\n', writer->stream);
    write_object(writer, "ob", function);
    write_file(writer, "fl", &own);
    write_function_name(writer, "fn", function);
    writer->file = own.file_number;
    self.instructions = write_lines(writer, function, self.instructions, &own);
    fprintf(writer->stream, "%" PRIu32, own.line);
    write_costs(writer, &self);
    for (size_t i = 0; i < row_count; i++)
        write_call(writer, &rows[i], &own);
    enter_file(writer, &own, &own);
}

static void write_events(const struct writer *writer)
{
    bool has_times = profile_has_times(writer->profile);
    bool has_instructions = profile_has_instructions(writer->profile);

    fputs("positions: line\n", writer->stream);
    if (has_instructions)
        fputs("event: Ir : Instructions executed\n", writer->stream);
    if (has_times)
        fprintf(writer->stream, "event: ns : %s\n",
                profile_is_sampled(writer->profile) ? "CPU nanoseconds" : "Nanoseconds");
    if (profile_is_sampled(writer->profile))
        fputs("event: Wait : Nanoseconds waited\n", writer->stream);
    fprintf(writer->stream, "event: %1$s : %1$s\nevents: %2$s%3$s%4$s%1$s\n",
            profile_is_stacked(writer->profile) ? "Samples" : "Calls",
            has_instructions ? "Ir " : "", has_times ? "ns " : "",
            profile_is_sampled(writer->profile) ? "Wait " : "");
}

#define COMPARE(a, b)                                                                              \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    COMPARE(a->caller, b->caller);
    COMPARE(a->site.file_number, b->site.file_number);
    COMPARE(a->site.line, b->site.line);
    COMPARE(a->callee, b->callee);
    return 0;
}

/* Rows of one line to one function become one. Returns how many are left. */
static size_t merge_rows(struct row *rows, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!kept || compare_rows(&rows[kept - 1], &rows[i])) {
            rows[kept++] = rows[i];
            continue;
        }
        rows[kept - 1].costs.calls += rows[i].costs.calls;
        rows[kept - 1].costs.total_ns += rows[i].costs.total_ns;
        rows[kept - 1].costs.wait.total_ns += rows[i].costs.wait.total_ns;
        rows[kept - 1].costs.total_calls += rows[i].costs.total_calls;
        rows[kept - 1].costs.total_instructions += rows[i].costs.total_instructions;
    }
    return kept;
}

/* The edges of a part by caller, line and callee. To be freed. */
static struct row *sorted_rows(const struct writer *writer, const struct part *part, size_t *count)
{
    const struct cost_table *edges = &part->edges;
    struct row *rows = memory_zeroed(edges->keys.count, sizeof(*rows));

    for (size_t i = 0; i < edges->keys.count; i++)
        rows[i] = (struct row){
            .caller = (uint32_t)(edges->keys.pairs[i].a >> 32),
            .callee = (uint32_t)edges->keys.pairs[i].a,
            .site = place_of_site(writer->images, edges->keys.pairs[i].b),
            .costs = edges->costs[i],
        };
    qsort(rows, edges->keys.count, sizeof(*rows), compare_rows);
    *count = merge_rows(rows, edges->keys.count);
    return rows;
}

/* Functions in the order of their numbers, their calls behind them. */
static void write_functions(struct writer *writer, const struct part *part)
{
    const struct cost_table *functions = &part->functions;
    size_t count = images_function_count(writer->images);
    uint32_t *place = memory_zeroed(count, sizeof(*place)); /* in functions, + 1 */
    size_t row_count, row = 0;
    struct row *rows = sorted_rows(writer, part, &row_count);

    for (size_t i = 0; i < functions->keys.count; i++)
        place[functions->keys.pairs[i].a] = (uint32_t)i + 1;
    for (uint32_t function = 0; function < count; function++) {
        struct costs costs = {0};
        size_t first = row;
        while (row < row_count && rows[row].caller == function)
            row++;
        if (place[function])
            costs = functions->costs[place[function] - 1];
        if (place[function] || row > first)
            write_function(writer, function, &costs, rows + first, row - first);
    }
    free(rows);
    free(place);
}

/* One line whatever the text holds. */
static void write_header_text(struct writer *writer, const char *key, const char *text)
{
    fprintf(writer->stream, "%s: ", key);
    utf8_write_plain(writer->stream, text);
    putc('\n', writer->stream);
}

static void write_part_header(struct writer *writer, const struct part *part)
{
    const struct process *process = &writer->profile->processes[part->process];
    const struct trace_thread *thread = &process->threads[part->thread].record;
    struct event_costs sum = costs_of_part(part);
    char name[PART_NAME_SIZE];

    fprintf(writer->stream, "\npid: %" PRIu32 "\n", process->header.pid);
    write_header_text(writer, "cmd", process->header.command);
    fprintf(writer->stream, "part: %zu\n", writer->part_number);
    part_name(name, writer->profile, part);
    if (!writer->profile->merged)
        fprintf(writer->stream, "thread: %" PRIu32 "\n", thread->ordinal);
    if (!writer->profile->merged && writer->profile->process_count == 1)
        thread_name(name, thread);
    write_header_text(writer, "desc: Trigger", name);
    write_events(writer);
    fputs("summary:", writer->stream);
    write_costs(writer, &sum);
}

void callgrind_write(FILE *stream, const struct view *view)
{
    struct writer writer = {.stream = stream, .profile = view->profile, .images = view->images};

    writer.function_part =
        memory_zeroed(images_function_count(view->images), sizeof(*writer.function_part));
    counted_lines_find(&writer.lines, view->coverage, view->images);
    writer.file_part = memory_zeroed(writer.lines.file_count, sizeof(*writer.file_part));
    writer.object_part = memory_zeroed(view->images->count, sizeof(*writer.object_part));
    fprintf(stream, "# callgrind format\nversion: 1\ncreator: umbra grinder " UMBRA_VERSION "\n");
    if (!view->count) {
        write_events(&writer);
        fputs("totals:", stream);
        write_costs(&writer, &(struct event_costs){0});
    }
    for (size_t i = view->first; i < view->first + view->count; i++) {
        const struct part *part = &view->profile->parts[i];
        struct event_costs sum = costs_of_part(part);
        writer.part_number = i - view->first + 1;
        write_part_header(&writer, part);
        write_functions(&writer, part);
        fputs("\ntotals:", stream);
        write_costs(&writer, &sum);
    }
    free(writer.function_part);
    free(writer.file_part);
    counted_lines_free(&writer.lines);
    free(writer.object_part);
}
