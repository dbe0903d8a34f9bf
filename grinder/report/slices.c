#include "grinder/report/slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/profile/traces.h"
#include "support/bounded_file.h"
#include "support/memory.h"
#include "trace/slice_format.h"

#define SIZE_LIMIT (1u << 30)

/* A file's bytes, read once. */
struct recording {
    const struct process *process;
    char *path;
    uint8_t *bytes; /* null: none */
    uint64_t size;
    struct slices_header header;
    double origin_ns; /* from the first trace of all */
};

struct reader {
    struct slices *slices;
    const struct profile *profile;
    const struct images *images;
};

struct entry {
    uint64_t thread, function;
    int64_t self, total;
    uint64_t calls;
};

static int read_number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return 0;
    }
    return -1;
}

static int read_signed(const uint8_t **at, const uint8_t *end, int64_t *value)
{
    uint64_t coded;

    if (read_number(at, end, &coded) < 0)
        return -1;
    *value = (int64_t)(coded >> 1) ^ -(int64_t)(coded & 1);
    return 0;
}

/* entry is the one before. */
static int read_entry(const uint8_t **at, const uint8_t *end, struct entry *entry)
{
    uint64_t thread;
    int64_t function;

    if (read_number(at, end, &thread) < 0 || read_signed(at, end, &function) < 0 ||
        read_signed(at, end, &entry->self) < 0 || read_signed(at, end, &entry->total) < 0 ||
        read_number(at, end, &entry->calls) < 0)
        return -1;
    entry->thread += thread;
    entry->function += (uint64_t)function;
    return 0;
}

/* The number of a trace's function among those of all; 0 if it is none that was recorded. */
static uint32_t number_of(const struct reader *reader, const struct process *process,
                          uint64_t function)
{
    for (size_t i = 0; i < process->module_count; i++) {
        const struct module_facts *module = &process->modules[i];
        if (!module->image || function < module->first_function ||
            function - module->first_function >= module->function_count)
            continue;
        return images_recorded(reader->images, module->image,
                               (uint32_t)(function - module->first_function));
    }
    return 0;
}

/* The part that thread's figures are in; SIZE_MAX if it is not shown. */
static size_t part_of(const struct profile *profile, const struct process *process,
                      uint64_t ordinal)
{
    for (size_t i = 0; i < profile->part_count; i++) {
        const struct part *part = &profile->parts[i];
        if (profile->merged)
            return i;
        if (&profile->processes[part->process] == process &&
            process->threads[part->thread].record.ordinal == ordinal)
            return i;
    }
    return SIZE_MAX;
}

static struct slice_row *row_of(struct slices *slices, size_t part, uint32_t function)
{
    size_t count = slices->keys.count;
    uint32_t number = pair_index_add(&slices->keys, part, function);

    if (number == count) {
        slices->rows = memory_grow(slices->rows, count, &slices->room, sizeof(*slices->rows));
        memset(&slices->rows[count], 0, sizeof(*slices->rows));
    }
    return &slices->rows[number];
}

/* value, spread over the columns that from and to lie in. */
static void spread(const struct slices *slices, float *columns, double from, double to,
                   double value)
{
    double column_ns = slices->column_ns;
    size_t first = from > 0 ? (size_t)(from / column_ns) : 0;

    for (size_t i = first; i < slices->columns && (double)i * column_ns < to; i++) {
        double left = (double)i * column_ns, right = left + column_ns;
        left = from > left ? from : left;
        right = to < right ? to : right;
        if (right > left)
            columns[i] += (float)(value * (right - left) / (to - from));
    }
}

static int add_slice(struct reader *reader, const struct recording *recording,
                     const struct slice *slice, const uint8_t *at, double from, double to)
{
    double ns = 1e9 / (double)recording->process->header.ticks_per_second;
    const uint8_t *end = at + slice->size;
    struct entry entry = {0};
    uint64_t thread = 0;
    size_t part = SIZE_MAX;

    for (uint32_t i = 0; i < slice->entry_count; i++) {
        struct slice_row *row;
        uint32_t number;
        if (read_entry(&at, end, &entry) < 0)
            return -1;
        if (entry.thread != thread)
            part = part_of(reader->profile, recording->process, entry.thread);
        thread = entry.thread;
        number = number_of(reader, recording->process, entry.function);
        if (part == SIZE_MAX || !number || to <= from)
            continue;
        row = row_of(reader->slices, part, number);
        spread(reader->slices, row->self, from, to, (double)entry.self * ns);
        spread(reader->slices, row->total, from, to, (double)entry.total * ns);
    }
    return at == end ? 0 : -1;
}

/* Calls add with each slice, if reader is not null; *end_ns becomes where the last one ends. */
static int walk(struct reader *reader, const struct recording *recording, double *end_ns)
{
    double rate = (double)recording->process->header.ticks_per_second;
    uint64_t offset = sizeof(recording->header), ticks = recording->header.start_ticks;

    *end_ns = recording->origin_ns;
    for (uint32_t i = 0; i < recording->header.slice_count; i++) {
        struct slice slice;
        double from = *end_ns;
        if (recording->size - offset < sizeof(slice))
            return -1;
        memcpy(&slice, recording->bytes + offset, sizeof(slice));
        offset += sizeof(slice);
        if (slice.size > recording->size - offset || slice.end_ticks < ticks)
            return -1;
        *end_ns = recording->origin_ns +
                  (double)(slice.end_ticks - recording->header.start_ticks) * 1e9 / rate;
        if (reader &&
            add_slice(reader, recording, &slice, recording->bytes + offset, from, *end_ns) < 0)
            return -1;
        ticks = slice.end_ticks;
        offset += slice.size;
    }
    return 0;
}

static void open_recording(struct recording *recording, const struct process *process,
                           uint64_t first_created)
{
    struct slices_header *header = &recording->header;
    struct bounded_file file;
    double ignored;
    struct failure failure;

    *recording = (struct recording){.process = process,
                                    .path = trace_beside(process->trace_path, SLICES_SUFFIX)};
    if (!bounded_file_open(&file, recording->path, &failure))
        return;
    recording->size = file.size;
    recording->origin_ns = (double)(process->header.created_ns - first_created);
    if (bounded_file_read(&file, header, sizeof(*header), 0) == 0 && file.size <= SIZE_LIMIT &&
        !memcmp(header->magic, SLICES_MAGIC, sizeof(header->magic)) &&
        header->version == SLICES_VERSION)
        recording->bytes = bounded_file_copy(&file, 0, file.size);
    bounded_file_close(&file);
    if (!recording->bytes || walk(NULL, recording, &ignored) < 0) {
        message("%s: expected time slices, found something else or a damaged file; leaving it out",
                recording->path);
    } else if (header->created_ns != process->header.created_ns ||
               header->pid != process->header.pid) {
        message("%s: expected the slices of %s, found those of another recording; leaving it out",
                recording->path, process->trace_path);
    } else {
        return;
    }
    free(recording->bytes);
    recording->bytes = NULL;
}

/* Each of several processes has only some of the columns. */
static size_t columns_for(const struct slices *slices, const struct slices_header *header)
{
    if (slices->traces > 1 || header->slice_count > SLICE_COLUMNS)
        return SLICE_COLUMNS;
    return header->slice_count ? header->slice_count : 1;
}

uint64_t slices_begin_ns(const struct profile *profile)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].header.created_ns < first)
            first = profile->processes[i].header.created_ns;
    return first;
}

void slices_read(struct slices *slices, const struct profile *profile, const struct images *images)
{
    struct recording *all = memory_zeroed(profile->process_count, sizeof(*all));
    struct reader reader = {slices, profile, images};
    uint64_t first = slices_begin_ns(profile);
    double end = 0, at;

    *slices = (struct slices){0};
    for (size_t i = 0; i < profile->process_count; i++) {
        open_recording(&all[i], &profile->processes[i], first);
        if (!all[i].bytes)
            continue;
        walk(NULL, &all[i], &at);
        end = at > end ? at : end;
        slices->traces++;
        slices->columns = columns_for(slices, &all[i].header);
        slices->cut |= all[i].header.flags & SLICES_CUT;
    }
    slices->column_ns = slices->columns ? end / (double)slices->columns : 0;
    for (size_t i = 0; i < profile->process_count; i++) {
        if (all[i].bytes && end > 0 && walk(&reader, &all[i], &at) < 0)
            message("%s: expected numbers of 7 bits a byte, found others; showing what comes "
                    "before",
                    all[i].path);
        free(all[i].bytes);
        free(all[i].path);
    }
    free(all);
}

void slices_free(struct slices *slices)
{
    pair_index_free(&slices->keys);
    free(slices->rows);
    *slices = (struct slices){0};
}
