#include "grinder/symbols/lines.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "grinder/base/child.h"
#include "support/memory.h"
#include "support/sorted.h"
#include "support/utf8.h"

#define CHILD_SECONDS 30
#define CHILD_MEMORY  (2ull << 30) /* on top of what it inherits */

static int compare_addresses(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

void line_table_begin(struct line_table *table, uint64_t *addresses, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(addresses, count, sizeof(*addresses), compare_addresses);
    for (size_t i = 0; i < count; i++)
        if (!kept || addresses[i] != addresses[kept - 1])
            addresses[kept++] = addresses[i];
    *table = (struct line_table){.addresses = addresses, .count = kept};
    table->lines = memory_zeroed(kept, sizeof(*table->lines));
}

void line_table_free(struct line_table *table)
{
    for (size_t i = 0; i < table->file_count; i++)
        free(table->files[i]);
    free(table->files);
    for (size_t i = 0; i < table->name_count; i++)
        free(table->names[i]);
    free(table->names);
    free(table->inlined);
    free(table->innermost);
    free(table->spot_lines);
    free(table->is_spot);
    free(table->addresses);
    free(table->lines);
    *table = (struct line_table){0};
}

void line_table_add_spot(struct line_table *table, uint64_t address)
{
    size_t found = line_table_first(table, address);

    if (found >= table->count || table->addresses[found] != address)
        return;
    if (!table->is_spot) {
        table->is_spot = memory_zeroed(table->count, sizeof(*table->is_spot));
        table->spot_lines = memory_zeroed(table->count, sizeof(*table->spot_lines));
        table->innermost = memory_zeroed(table->count, sizeof(*table->innermost));
    }
    table->is_spot[found] = 1;
}

size_t line_table_first(const struct line_table *table, uint64_t address)
{
    return partition_point(i, table->count, table->addresses[i] < address);
}

struct line line_table_find(const struct line_table *table, uint64_t address)
{
    size_t found = line_table_first(table, address);

    return found < table->count && table->addresses[found] == address ? table->lines[found]
                                                                      : (struct line){0};
}

static bool has_spot(const struct line_table *table, size_t place, uint64_t address)
{
    return table->is_spot && place < table->count && table->addresses[place] == address &&
           table->is_spot[place];
}

struct line line_table_find_spot(const struct line_table *table, uint64_t address)
{
    size_t found = line_table_first(table, address);

    if (has_spot(table, found, address) && table->spot_lines[found].file)
        return table->spot_lines[found];
    return line_table_find(table, address);
}

const struct inlined *line_table_inlined(const struct line_table *table, uint64_t address)
{
    size_t found = line_table_first(table, address);

    return has_spot(table, found, address) && table->innermost[found]
               ? &table->inlined[table->innermost[found]]
               : NULL;
}

/* A pipe's reading end with a deadline. */
struct source {
    int pipe;
    struct timespec deadline;
    unsigned char bytes[1 << 16];
    size_t next, filled;
};

static int milliseconds_left(const struct source *source)
{
    struct timespec now;
    long long left;

    clock_gettime(CLOCK_MONOTONIC, &now);
    left = (long long)(source->deadline.tv_sec - now.tv_sec) * 1000 +
           (source->deadline.tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* 1 if there are bytes, 0 at the end, -1 if the time is up or the pipe failed. */
static int refill(struct source *source)
{
    struct pollfd poll_pipe = {.fd = source->pipe, .events = POLLIN};
    ssize_t count;
    int ready;

    do
        ready = poll(&poll_pipe, 1, milliseconds_left(source));
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return -1;
    do
        count = read(source->pipe, source->bytes, sizeof(source->bytes));
    while (count < 0 && errno == EINTR);
    source->next = 0;
    source->filled = count > 0 ? (size_t)count : 0;
    return count < 0 ? -1 : count > 0;
}

/* 1 if size bytes were read, 0 if the pipe ended before the first, -1 otherwise. */
static int take(struct source *source, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t part = source->filled - source->next;
        int status = part ? 1 : refill(source);
        if (status <= 0)
            return done ? -1 : status;
        part = source->filled - source->next;
        if (part > size - done)
            part = size - done;
        memcpy((char *)bytes + done, source->bytes + source->next, part);
        source->next += part;
        done += part;
    }
    return 1;
}

/* What a report came to so far. */
struct report {
    struct source source;
    struct line_table *table;
    size_t file_room, name_room, inlined_room;
    uint32_t *outer; /* of each inlined call: the number of the one that it is within */
    size_t outer_room;
    size_t text; /* what counts to LINES_MAX_TEXT */
    bool has_all_lines;
};

static int take_words(struct report *report, uint32_t *words, size_t count)
{
    return take(&report->source, words, count * sizeof(*words)) > 0 ? 0 : -1;
}

/* Null if it is none. */
static char *take_name(struct report *report)
{
    uint32_t length;
    char *name;

    if (take_words(report, &length, 1) < 0 || !length || length > LINES_MAX_NAME)
        return NULL;
    report->text += lines_name_cost(length);
    if (report->text > LINES_MAX_TEXT)
        return NULL;
    name = memory_zeroed(length + 1, 1);
    if (take(&report->source, name, length) > 0 && strlen(name) == length)
        return name;
    free(name);
    return NULL;
}

static int take_file(struct report *report)
{
    struct line_table *table = report->table;
    char *name = take_name(report);

    if (!name)
        return -1;
    table->files =
        memory_grow(table->files, table->file_count, &report->file_room, sizeof(*table->files));
    table->files[table->file_count++] = name;
    return 0;
}

/* Lines of the table, or of its spots. */
static int take_line(struct report *report, struct line *lines)
{
    struct line_table *table = report->table;
    uint32_t words[3];

    if (take_words(report, words, 3) < 0 || !lines || words[0] >= table->count ||
        words[1] >= table->file_count)
        return -1;
    lines[words[0]] = (struct line){words[1], words[2]};
    return 0;
}

static int take_function(struct report *report)
{
    struct line_table *table = report->table;
    char *name = take_name(report);

    if (!name)
        return -1;
    utf8_sanitise(name);
    table->names =
        memory_grow(table->names, table->name_count, &report->name_room, sizeof(*table->names));
    table->names[table->name_count++] = name;
    return 0;
}

/* Those that are within each other have ascending numbers: so there is no circle. */
static int take_inlined(struct report *report)
{
    struct line_table *table = report->table;
    size_t number = table->inlined_count;
    uint32_t words[4], depth;

    if (take_words(report, words, 4) < 0 || number > LINES_MAX_INLINED || words[0] >= number ||
        words[1] >= table->name_count || words[2] >= table->file_count)
        return -1;
    depth = table->inlined[words[0]].depth + 1;
    if (depth > LINES_MAX_DEPTH)
        return -1;
    table->inlined =
        memory_grow(table->inlined, number, &report->inlined_room, sizeof(*table->inlined));
    report->outer = memory_grow(report->outer, number, &report->outer_room, sizeof(*report->outer));
    table->inlined[number] = (struct inlined){.name = words[1] ? table->names[words[1]] : "???",
                                              .call = {words[2], words[3]},
                                              .depth = depth};
    report->outer[number] = words[0];
    table->inlined_count++;
    return 0;
}

static int take_innermost(struct report *report)
{
    struct line_table *table = report->table;
    uint32_t words[2];

    if (take_words(report, words, 2) < 0 || words[0] >= table->count || !table->is_spot ||
        !table->is_spot[words[0]] || words[1] >= table->inlined_count)
        return -1;
    table->innermost[words[0]] = words[1];
    return 0;
}

static int take_record(struct report *report, unsigned char kind)
{
    switch (kind) {
    case LINES_FILE:
        return take_file(report);
    case LINES_LINE:
        return take_line(report, report->table->lines);
    case LINES_SPOT:
        return take_line(report, report->table->spot_lines);
    case LINES_DONE:
        report->has_all_lines = true;
        return 0;
    case LINES_FUNCTION:
        return take_function(report);
    case LINES_INLINED:
        return take_inlined(report);
    case LINES_INNERMOST:
        return take_innermost(report);
    default:
        return -1;
    }
}

/* Each list begins with an item that is none. */
static void begin_report(struct report *report)
{
    struct line_table *table = report->table;

    table->files = memory_grow(NULL, 0, &report->file_room, sizeof(*table->files));
    table->files[0] = NULL;
    table->names = memory_grow(NULL, 0, &report->name_room, sizeof(*table->names));
    table->names[0] = NULL;
    table->inlined = memory_grow(NULL, 0, &report->inlined_room, sizeof(*table->inlined));
    table->inlined[0] = (struct inlined){0};
    report->outer = memory_grow(NULL, 0, &report->outer_room, sizeof(*report->outer));
    table->file_count = table->name_count = table->inlined_count = 1;
}

bool line_table_take(struct line_table *table, int pipe, struct failure *failure)
{
    struct report *report = memory_zeroed(1, sizeof(*report));
    unsigned char kind;
    int status;

    report->table = table;
    report->source.pipe = pipe;
    clock_gettime(CLOCK_MONOTONIC, &report->source.deadline);
    report->source.deadline.tv_sec += CHILD_SECONDS;
    begin_report(report);
    while ((status = take(&report->source, &kind, 1)) > 0)
        if (take_record(report, kind) < 0) {
            status = -1;
            break;
        }
    for (size_t i = 1; i < table->inlined_count; i++)
        table->inlined[i].outer = report->outer[i] ? &table->inlined[report->outer[i]] : NULL;
    fail_because(failure, "%s",
                 report->has_all_lines
                     ? "inlined functions cannot be read to the end; some are not known"
                     : "its line tables cannot be read to the end; some lines are not known");
    free(report->outer);
    free(report);
    return status == 0;
}

/* What the child is to look for. */
struct wanted_lines {
    const struct line_table *table;
    const char *path;
};

static int write_lines(void *with, int pipe)
{
    const struct wanted_lines *wanted = with;

    return lines_dwarf_write(wanted->table, wanted->path, pipe);
}

bool line_table_read(struct line_table *table, const char *path, struct failure *failure)
{
    const struct child_limits limits = {.seconds = CHILD_SECONDS, .memory = CHILD_MEMORY};
    struct wanted_lines wanted = {table, path};
    int pipe;
    pid_t child = child_start(&limits, write_lines, &wanted, &pipe);
    bool is_whole;

    if (child < 0)
        return fail_because(failure, "%s", strerror(errno));
    is_whole = line_table_take(table, pipe, failure);
    if (!is_whole)
        kill(child, SIGKILL);
    close(pipe);
    return child_wait(child) == 0 && is_whole;
}
