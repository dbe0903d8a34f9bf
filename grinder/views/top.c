/*
 * A refresh reads every trace into a tree and adds it to a profile, as the other modes do, and
 * throws both away; but the trace of a process that has ended stays in a profile of its own and is
 * not read again. What is kept is what each function had come to, by its number in images, which
 * stays the same: the differences to the next refresh are what is shown.
 *
 *      refresh n-1     calls 1000  self 5 ms ─┐
 *      refresh n       calls 1500  self 9 ms ─┴> 500 calls, 4 ms of so many seconds
 *
 * Of a recording by samples, times are of the processor, as they went by. Of others, an
 * invocation's time is in its trace when it ends: what has not ended yet shows as its callees'
 * time, and then, all at once, as its own.
 */
#include "grinder/views/top.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"
#include "grinder/profile/symbolize.h"
#include "grinder/profile/traces.h"
#include "grinder/profile/tree_load.h"
#include "grinder/views/figures.h"
#include "grinder/views/screen.h"
#include "grinder/views/trace_feed.h"
#include "support/memory.h"
#include "support/progress.h"

#define LINES_ABOVE         2
#define NAME_COLUMN         47 /* columns left of the function's name */
#define INSTRUCTION_COLUMNS 20

struct reading {
    uint64_t calls, self_ns, instructions;
};

struct row {
    uint32_t function;
    uint64_t calls, self_ns, instructions; /* since the last refresh */
    uint64_t all_calls;
};

struct source {
    char *path;
    int file; /* that it is the path of, from the feed; else -1 */
    bool has_ended;
};

struct top {
    const struct top_options *options;
    struct source *sources;
    size_t source_count, source_room;
    struct trace_feed feed;
    struct images images;
    struct profile past;      /* of processes that have ended */
    struct reading *sums;     /* by function: what it has come to; with as many as readings */
    size_t named;             /* functions of images that have their names */
    struct reading *readings; /* by function */
    size_t reading_room;
    struct row *rows;
    size_t row_count, row_room;
    size_t traces;           /* that could be read, this time or before their processes' end */
    double read_at, seconds; /* of the last refresh; that its figures are of; 0: since the start */
    enum weight order;       /* that was asked for */
    bool has_times, is_sampled; /* all of them */
    bool has_instructions;      /* some of them */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Takes the path over, and file. */
static void add_source(struct top *top, char *path, int file)
{
    top->sources =
        memory_grow(top->sources, top->source_count, &top->source_room, sizeof(*top->sources));
    top->sources[top->source_count++] = (struct source){path, file, false};
}

/* What came since the last refresh. */
static void add_new_sources(struct top *top)
{
    int file;

    while ((file = trace_feed_next(&top->feed)) >= 0)
        add_source(top, memory_print("/proc/self/fd/%d", file), file);
}

/* Its trace is complete, and was when it was read. */
static bool has_ended(const struct trace_header *header)
{
    return header->end == TRACE_END_GONE || header->end == TRACE_END_EXEC ||
           header->end == TRACE_END_DETACHED;
}

/* A trace that is gone, or does not hang together in this moment, is left out of this refresh. */
static void read_source(struct top *top, struct source *source, struct profile *profile)
{
    struct failure failure;
    struct tree tree;

    if (!tree_load_path(&tree, source->path, &top->images, &failure)) {
        message_failure(&failure);
        return;
    }
    source->has_ended = has_ended(&tree.header);
    profile_add(source->has_ended ? &top->past : profile, &tree, &top->images);
    tree_free(&tree);
    if (source->has_ended && source->file >= 0) {
        close(source->file);
        source->file = -1;
    }
}

static void read_sources(struct top *top, struct profile *profile)
{
    for (size_t i = 0; i < top->source_count; i++)
        if (!top->sources[i].has_ended)
            read_source(top, &top->sources[i], profile);
    top->traces = top->past.process_count + profile->process_count;
}

/* All functions get their names anew: that is done only if there are more. */
static void name_functions(struct top *top)
{
    const struct profile none = {0};
    size_t count = images_function_count(&top->images);

    if (count == top->named)
        return;
    symbolize_forget(&top->images);
    symbolize(&top->images, &none, top->options->debug_dirs);
    top->named = count;
}

static uint64_t more(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Never lower than before: a trace that was left out this time comes back. */
static void note(struct top *top, uint32_t function)
{
    const struct reading *sum = &top->sums[function];
    struct reading *reading = &top->readings[function];
    struct row row = {
        .function = function,
        .calls = more(sum->calls, reading->calls),
        .self_ns = more(sum->self_ns, reading->self_ns),
        .instructions = more(sum->instructions, reading->instructions),
        .all_calls = sum->calls,
    };

    reading->calls += row.calls;
    reading->self_ns += row.self_ns;
    reading->instructions += row.instructions;
    if (!row.calls && !row.self_ns && !row.instructions)
        return;
    top->rows = memory_grow(top->rows, top->row_count, &top->row_room, sizeof(*top->rows));
    top->rows[top->row_count++] = row;
}

static void make_room(struct top *top, size_t count)
{
    struct reading *readings;

    if (count <= top->reading_room)
        return;
    readings = memory_zeroed(2 * count, sizeof(*readings));
    if (top->readings)
        memcpy(readings, top->readings, top->reading_room * sizeof(*readings));
    free(top->readings);
    top->readings = readings;
    top->reading_room = 2 * count;
    free(top->sums);
    top->sums = memory_zeroed(top->reading_room, sizeof(*top->sums));
}

static void add_up(struct top *top, const struct profile *profile)
{
    const struct cost_table *functions =
        profile->part_count ? &profile->parts[0].functions : &(const struct cost_table){0};

    for (size_t i = 0; i < functions->keys.count; i++) {
        struct reading *sum = &top->sums[functions->keys.pairs[i].a];
        sum->calls += functions->costs[i].calls;
        sum->self_ns += functions->costs[i].self_ns;
        sum->instructions += functions->costs[i].self_instructions;
    }
}

static int compare(uint64_t a, uint64_t b, const struct row *left, const struct row *right)
{
    if (a != b)
        return a > b ? -1 : 1;
    return (left->function > right->function) - (left->function < right->function);
}

static int compare_self(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    return compare(a->self_ns, b->self_ns, a, b);
}

static int compare_calls(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    return compare(a->calls, b->calls, a, b);
}

static int compare_instructions(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    return compare(a->instructions, b->instructions, a, b);
}

/* Where there are no figures to sort by, by others. */
static void sort(struct top *top)
{
    bool by_instructions = top->has_instructions && (top->order == WEIGHT_INSTRUCTIONS ||
                                                     (top->order == WEIGHT_NS && !top->has_times));

    qsort(top->rows, top->row_count, sizeof(*top->rows),
          by_instructions                                 ? compare_instructions
          : top->order == WEIGHT_CALLS || !top->has_times ? compare_calls
                                                          : compare_self);
}

static void make_rows(struct top *top, const struct profile *profile)
{
    size_t count = images_function_count(&top->images) + 1;

    make_room(top, count);
    memset(top->sums, 0, count * sizeof(*top->sums));
    add_up(top, &top->past);
    add_up(top, profile);
    top->row_count = 0;
    for (size_t i = 0; i < count; i++)
        note(top, (uint32_t)i);
    if (top->row_count)
        sort(top);
}

static void refresh(struct top *top)
{
    struct profile profile = {.merged = true};
    double last = top->read_at;

    message_mute(true); /* whether it balances is for --mode=summary to say */
    add_new_sources(top);
    read_sources(top, &profile);
    top->read_at = now();
    top->seconds = last > 0 ? top->read_at - last : 0;
    top->has_times = profile_has_times(&profile) && profile_has_times(&top->past);
    top->is_sampled = top->has_times && !profile.clocked && !top->past.clocked && top->traces;
    top->has_instructions =
        profile_has_instructions(&profile) || profile_has_instructions(&top->past);
    name_functions(top);
    message_mute(false);
    make_rows(top, &profile);
    profile_free(&profile);
}

static struct row sum_of(const struct top *top)
{
    struct row sum = {0};

    for (size_t i = 0; i < top->row_count; i++) {
        sum.calls += top->rows[i].calls;
        sum.self_ns += top->rows[i].self_ns;
        sum.instructions += top->rows[i].instructions;
    }
    return sum;
}

static double percent(uint64_t figure, uint64_t all)
{
    return all ? 100.0 * (double)figure / (double)all : 0;
}

/* Cut at a character, not within one. */
static void write_cut(const char *name, int columns)
{
    int length = 0;

    for (int width = 0; name[length]; length++) {
        width += ((unsigned char)name[length] & 0xc0) != 0x80;
        if (width > columns)
            break;
    }
    fwrite(name, 1, (size_t)length, stdout);
}

/* In seconds of the wall clock or, of a first refresh, in all there is. */
static void write_row(const struct top *top, const struct row *row, const struct row *all,
                      int columns)
{
    char instructions[FIGURE_ROOM];

    if (top->has_times)
        printf("%7.2f %11.3f ", percent(row->self_ns, all->self_ns), (double)row->self_ns / 1e6);
    else
        printf("%7s %11s ", "-", "-");
    if (top->seconds > 0)
        printf("%12.0f ", (double)row->calls / top->seconds);
    else
        printf("%12s ", "-");
    printf("%12" PRIu64 "  ", row->all_calls);
    if (top->has_instructions)
        printf("%7.2f %10s  ", percent(row->instructions, all->instructions),
               figure_count(instructions, row->instructions));
    write_cut(top->images.functions[row->function].name, columns);
}

static void write_table(const struct top *top, size_t rows, int columns, void (*end_line)(void))
{
    const struct row all = sum_of(top);
    char line[224], times[64] = "no times (--timing=none)";
    char count[FIGURE_ROOM], instructions[FIGURE_ROOM + 16] = "";
    int name_column = NAME_COLUMN + (top->has_instructions ? INSTRUCTION_COLUMNS : 0);
    int length;

    if (top->has_times)
        snprintf(times, sizeof(times), "%.3f ms%s", (double)all.self_ns / 1e6,
                 top->is_sampled ? " of CPU" : "");
    if (top->has_instructions)
        snprintf(instructions, sizeof(instructions), ", %s instr.",
                 figure_count(count, all.instructions));
    length = snprintf(line, sizeof(line),
                      "%zu program%s, %zu functions, %s%s and %" PRIu64 " calls ", top->traces,
                      top->traces == 1 ? "" : "s", top->row_count, times, instructions, all.calls);
    if (top->seconds > 0)
        snprintf(line + length, sizeof(line) - (size_t)length, "in %.1f s", top->seconds);
    else
        snprintf(line + length, sizeof(line) - (size_t)length, "since the start");
    write_cut(line, columns);
    end_line();
    length = snprintf(line, sizeof(line), "%7s %11s %12s %12s  ", "self%", "self ms", "calls/s",
                      "calls");
    if (top->has_instructions)
        length += snprintf(line + length, sizeof(line) - (size_t)length, "%7s %10s  ", "instr.%",
                           "instr.");
    snprintf(line + length, sizeof(line) - (size_t)length, "function");
    write_cut(line, columns);
    end_line();
    for (size_t i = 0; i < top->row_count && i < rows; i++) {
        write_row(top, &top->rows[i], &all, columns > name_column ? columns - name_column : 0);
        end_line();
    }
}

static void end_plain_line(void)
{
    putchar('\n');
}

static void show_page(const struct top *top)
{
    int rows, columns;

    screen_size(&rows, &columns);
    screen_home();
    write_table(top, rows > LINES_ABOVE + 1 ? (size_t)(rows - LINES_ABOVE - 1) : 0, columns,
                screen_end_line);
    screen_end_page();
}

/* Waits for the time of the next refresh. Returns false if that is not to be. */
static bool wait_for_next(struct top *top, double until)
{
    for (;;) {
        double left = until - now();
        int key = left > 0 ? screen_key((unsigned)(left * 1000) + 1) : 0;
        if (key == 'q' || key == 'Q' || key < 0)
            return false;
        if (key == 's' || key == 'c' || key == 'i')
            top->order = key == 's' ? WEIGHT_NS : key == 'c' ? WEIGHT_CALLS : WEIGHT_INSTRUCTIONS;
        if (left <= 0)
            return true;
        if (key && top->row_count)
            sort(top);
        show_page(top);
    }
}

/* The first refresh. False after a message: programs run, and none of them has what to sort by. */
static bool begin(struct top *top)
{
    refresh(top);
    if (top->order != WEIGHT_INSTRUCTIONS || !top->traces || top->has_instructions)
        return true;
    message("--weight=instructions: expected a program that counts them, found none: record with "
            "--count=instructions, or leave --weight out");
    return false;
}

static void run_on_screen(struct top *top)
{
    const struct top_options *options = top->options;

    screen_begin();
    for (size_t i = 1;; i++) {
        if (i > 1)
            refresh(top);
        show_page(top);
        if (i == options->times || !wait_for_next(top, top->read_at + options->interval))
            break;
    }
    screen_end();
}

/* Without a terminal: all that was since the start or, with --count, one table after the other. */
static void run_plainly(struct top *top)
{
    const struct top_options *options = top->options;
    size_t times = options->once || !options->times ? 1 : options->times;

    for (size_t i = 1; i <= times; i++) {
        if (i > 1)
            refresh(top);
        write_table(top, options->rows, 1 << 20, end_plain_line);
        fflush(stdout);
        if (i < times)
            usleep((useconds_t)(options->interval * 1e6));
    }
}

int top_run(const struct top_options *options)
{
    struct top top = {.options = options,
                      .order = options->weight,
                      .past = {.merged = true},
                      .feed = {.socket = options->feed}};
    int result = 0;
    char **traces = traces_of(options->traces, &result);

    for (char **trace = traces; *trace; trace++)
        add_source(&top, memory_copy_string(*trace), -1);
    progress_disable();
    images_begin(&top.images);
    top.images.path_maps = options->path_maps;
    if (!begin(&top))
        result = 1;
    else if (options->once || !isatty(STDOUT_FILENO))
        run_plainly(&top);
    else
        run_on_screen(&top);
    if (!top.traces)
        message("top: no trace could be read");
    result |= !top.traces || ferror(stdout);
    profile_free(&top.past);
    images_free(&top.images);
    for (size_t i = 0; i < top.source_count; i++)
        free(top.sources[i].path);
    free(top.sources);
    free(top.sums);
    free(top.readings);
    free(top.rows);
    traces_free(traces);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
