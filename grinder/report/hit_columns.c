#include "grinder/report/hit_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "grinder/profile/symbolize.h"
#include "grinder/report/slices.h"
#include "support/memory.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
#define DIGIT_BITS 5
#define DIGIT_MORE 32u

/* Stacks with samples, callees behind their callers: the order in which they are written. */
struct stack_order {
    uint32_t *numbers; /* by place, from 1 */
    size_t count;      /* [0] included, which is no stack */
    uint32_t *places;  /* by number; 0: it is not shown */
    uint32_t *child,
        *next; /* by number, while they are ordered: the first one above it, and its next sibling */
};

/* Instructions, by function; of one function those with most samples first. */
struct spot {
    uint64_t spot;
    uint32_t function;
    uint32_t number; /* in writer.keys */
    uint64_t samples;
};

struct writer {
    FILE *stream;
    const struct report *report;
    const struct report_files *files;
    const struct part *part;
    struct hit *hits; /* those kept, ascending by time: at_ns from where slices begin */
    size_t count;
    uint64_t usual_ns;
    double left_ns; /* not written so far */
    struct stack_order stacks;
    struct pair_index keys;       /* function, spot */
    struct spot *spots;           /* as they are written */
    uint32_t *places;             /* by number in keys: place among the function's */
    uint32_t *innermost;          /* by place in spots: its inlined call, from 1 on; 0: none */
    struct pair_index inlined;    /* the call's address, 0: numbers from 0 on */
    const struct inlined **calls; /* by number */
    uint32_t *outer;              /* by number: that of the outer one, from 1 on; 0: none */
    struct pair_index names;      /* the name's address, 0 */
    size_t call_room, outer_room;
};

typedef uint64_t number_at(struct writer *writer, size_t i);

static void write_number(FILE *stream, uint64_t number)
{
    for (; number >= DIGIT_MORE; number >>= DIGIT_BITS)
        putc(digits[DIGIT_MORE | (number & (DIGIT_MORE - 1))], stream);
    putc(digits[number], stream);
}

static void write_numbers(struct writer *writer, const char *name, size_t count, number_at *number)
{
    fprintf(writer->stream, "\"%s\":\"", name);
    for (size_t i = 0; i < count; i++)
        write_number(writer->stream, number(writer, i));
    fputs("\",\n", writer->stream);
}

/* Hits. */

static int compare_hits(const void *left, const void *right)
{
    const struct hit *a = left, *b = right;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->stack != b->stack ? a->stack < b->stack ? -1 : 1
                                : (a->spot > b->spot) - (a->spot < b->spot);
}

/* When the last process ended, from where slices begin; UINT64_MAX if that is not known of one. */
static uint64_t end_ns(const struct profile *profile)
{
    uint64_t last = 0;

    for (size_t i = 0; i < profile->process_count; i++) {
        const struct trace_header *header = &profile->processes[i].header;
        uint64_t end = header->end_ticks ? header->end_ticks : header->end_seen_ticks, at;
        if (end <= header->start_ticks)
            return UINT64_MAX;
        at = header->created_ns - slices_begin_ns(profile) +
             (uint64_t)((double)(end - header->start_ticks) * 1e9 /
                        (double)header->ticks_per_second);
        last = at > last ? at : last;
    }
    return last;
}

/* Each of them that is kept stands for as many as there are to a page with room. */
static size_t keep_each(const struct profile *profile)
{
    size_t all = 0, each = 1;

    for (size_t i = 0; i < profile->part_count; i++)
        all += profile->parts[i].hits.count;
    while (all / each > HIT_LIMIT)
        each *= 2;
    return each;
}

/* A damaged trace may have samples of any time: those that are outside of the run go to its ends.
 */
static uint64_t time_within(uint64_t at_ns, uint64_t begin_ns, uint64_t end)
{
    uint64_t at = at_ns > begin_ns ? at_ns - begin_ns : 0;

    return at < end ? at : end;
}

static void keep_hits(struct writer *writer)
{
    const struct profile *profile = writer->report->profile;
    const struct hit_list *all = &writer->part->hits;
    uint64_t begin = slices_begin_ns(profile), end = end_ns(profile);
    size_t each = keep_each(profile);

    writer->hits = memory_zeroed(all->count, sizeof(*writer->hits));
    for (size_t i = 0; i < all->count; i++) {
        writer->hits[i] = all->items[i];
        writer->hits[i].at_ns = time_within(all->items[i].at_ns, begin, end);
    }
    qsort(writer->hits, all->count, sizeof(*writer->hits), compare_hits);
    for (size_t i = 0; i < all->count; i++) {
        struct hit hit = writer->hits[i];
        if (i % each == 0)
            writer->hits[writer->count++] = hit;
        else
            writer->hits[writer->count - 1].ns += hit.ns;
    }
}

/* Stacks. */

static void link_children(struct stack_order *order, const struct stack_tree *stacks)
{
    for (size_t i = stacks->keys.count; i-- > 1;) {
        uint32_t parent = stack_parent(stacks, (uint32_t)i);
        if (!order->places[i])
            continue;
        order->places[parent] = 1;
        order->next[i] = order->child[parent];
        order->child[parent] = (uint32_t)i;
    }
}

/* A stack is numbered after its parent. */
static void order_stacks(struct writer *writer)
{
    const struct stack_tree *stacks = &writer->part->stacks;
    struct stack_order *order = &writer->stacks;
    size_t count = stacks->keys.count;
    uint32_t at = 0;

    order->numbers = memory_zeroed(count, sizeof(*order->numbers));
    order->places = memory_zeroed(count, sizeof(*order->places));
    order->child = memory_zeroed(count, sizeof(*order->child));
    order->next = memory_zeroed(count, sizeof(*order->next));
    for (size_t i = 0; i < writer->count; i++)
        order->places[writer->hits[i].stack] = 1;
    link_children(order, stacks);
    for (;;) {
        order->places[at] = (uint32_t)order->count;
        order->numbers[order->count++] = at;
        if (order->child[at]) {
            at = order->child[at];
            continue;
        }
        while (at && !order->next[at])
            at = stack_parent(stacks, at);
        if (!at)
            break;
        at = order->next[at];
    }
}

/* Spots. */

static uint32_t key_of(struct writer *writer, const struct hit *hit)
{
    uint32_t function = hit->stack ? stack_function(&writer->part->stacks, hit->stack) : 0;

    return pair_index_add(&writer->keys, function, hit->spot);
}

static int compare_spots(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void order_spots(struct writer *writer)
{
    for (size_t i = 0; i < writer->count; i++)
        key_of(writer, &writer->hits[i]);
    writer->spots = memory_zeroed(writer->keys.count, sizeof(*writer->spots));
    writer->places = memory_zeroed(writer->keys.count, sizeof(*writer->places));
    for (uint32_t i = 0; i < writer->keys.count; i++) {
        const struct pair *key = &writer->keys.pairs[i];
        writer->spots[i] = (struct spot){key->b, (uint32_t)key->a, i, 0};
    }
    for (size_t i = 0; i < writer->count; i++)
        writer->spots[key_of(writer, &writer->hits[i])].samples++;
    qsort(writer->spots, writer->keys.count, sizeof(*writer->spots), compare_spots);
    for (size_t i = 0, first = 0; i < writer->keys.count; i++) {
        if (writer->spots[i].function != writer->spots[first].function)
            first = i;
        writer->places[writer->spots[i].number] = (uint32_t)(i - first);
    }
}

/* Inlined calls. */

/* From 1 on; 0 for null. Outer ones have lower numbers: those that are not known yet are noted from
   the outermost in. */
static uint32_t number_of_inlined(struct writer *writer, const struct inlined *inlined)
{
    const struct inlined *chain[LINES_MAX_DEPTH];
    uint32_t depth = 0, number = 0;

    for (; inlined && depth < LINES_MAX_DEPTH; inlined = inlined->outer)
        chain[depth++] = inlined;
    while (depth--) {
        size_t before = writer->inlined.count;
        uint32_t outer = number;

        number = pair_index_add(&writer->inlined, (uint64_t)(uintptr_t)chain[depth], 0) + 1;
        if (number <= before)
            continue;
        writer->calls =
            memory_grow(writer->calls, before, &writer->call_room, sizeof(*writer->calls));
        writer->outer =
            memory_grow(writer->outer, before, &writer->outer_room, sizeof(*writer->outer));
        writer->calls[before] = chain[depth];
        writer->outer[before] = outer;
        pair_index_add(&writer->names, (uint64_t)(uintptr_t)chain[depth]->name, 0);
    }
    return number;
}

static void find_inlined(struct writer *writer)
{
    writer->innermost = memory_zeroed(writer->keys.count, sizeof(*writer->innermost));
    for (size_t i = 0; i < writer->keys.count; i++)
        writer->innermost[i] = number_of_inlined(
            writer, inlined_at_spot(writer->report->images, writer->spots[i].spot));
}

/* Columns. */

static uint64_t time_of_hit(struct writer *writer, size_t i)
{
    return writer->hits[i].at_ns / 1000 - (i ? writer->hits[i - 1].at_ns / 1000 : 0);
}

/* 0, 1, -1, 2 as 0, 2, 1, 4 */
static uint64_t to_and_fro(int64_t number)
{
    return number < 0 ? (uint64_t)-number * 2 - 1 : (uint64_t)number * 2;
}

static uint64_t stack_of_hit(struct writer *writer, size_t i)
{
    uint32_t before = i ? writer->stacks.places[writer->hits[i - 1].stack] : 0;

    return to_and_fro((int64_t)writer->stacks.places[writer->hits[i].stack] - before);
}

static uint64_t spot_of_hit(struct writer *writer, size_t i)
{
    return writer->places[key_of(writer, &writer->hits[i])];
}

/* i: of a stack, from 0. */
static uint64_t up_of_stack(struct writer *writer, size_t i)
{
    const struct stack_tree *stacks = &writer->part->stacks;
    uint32_t before = writer->stacks.numbers[i], own = writer->stacks.numbers[i + 1];

    return (uint64_t)stacks->depths[before] - stacks->depths[stack_parent(stacks, own)];
}

static uint64_t function_of_stack(struct writer *writer, size_t i)
{
    return stack_function(&writer->part->stacks, writer->stacks.numbers[i + 1]);
}

static uint64_t offset_of_spot(struct writer *writer, size_t i)
{
    const struct spot *spot = &writer->spots[i];
    const struct function *function = &writer->report->images->functions[spot->function];
    uint32_t rva = (uint32_t)spot->spot;

    if (!spot->function || !spot->spot || spot->spot >> 32 != function->image ||
        rva < function->rva)
        return 0;
    return (uint64_t)(rva - function->rva) + 1;
}

static uint64_t file_of_spot(struct writer *writer, size_t i)
{
    struct place place = place_of_spot(writer->report->images, writer->spots[i].spot);

    return writer->files->of_place[place.file_number];
}

static uint64_t line_of_spot(struct writer *writer, size_t i)
{
    return place_of_spot(writer->report->images, writer->spots[i].spot).line;
}

static uint64_t inlined_of_spot(struct writer *writer, size_t i)
{
    return writer->innermost[i];
}

static uint64_t outer_of_inlined(struct writer *writer, size_t i)
{
    return writer->outer[i];
}

static uint64_t name_of_inlined(struct writer *writer, size_t i)
{
    return pair_index_add(&writer->names, (uint64_t)(uintptr_t)writer->calls[i]->name, 0);
}

static void write_inlined(struct writer *writer)
{
    size_t count = writer->inlined.count;

    write_numbers(writer, "inlined", count ? writer->keys.count : 0, inlined_of_spot);
    write_numbers(writer, "outer", count, outer_of_inlined);
    write_numbers(writer, "name", count, name_of_inlined);
    fputs("\"names\":[", writer->stream);
    for (size_t i = 0; i < writer->names.count; i++) {
        if (i)
            putc(',', writer->stream);
        page_write_text(writer->stream, (const char *)(uintptr_t)writer->names.pairs[i].a);
    }
    fputs("],\n", writer->stream);
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static uint64_t median_ns(const struct writer *writer)
{
    uint64_t *all = memory_zeroed(writer->count, sizeof(*all)), median;

    for (size_t i = 0; i < writer->count; i++)
        all[i] = writer->hits[i].ns;
    qsort(all, writer->count, sizeof(*all), compare_numbers);
    median = all[writer->count / 2];
    free(all);
    return median;
}

/* In whole µs, of which as many are left out as added: the sum stays. */
static uint64_t worth_of_hit(struct writer *writer, size_t i)
{
    double ns = (double)writer->hits[i].ns - (double)writer->usual_ns + writer->left_ns;
    double us = fmax(round(ns / 1000), -floor((double)writer->usual_ns / 1000));

    writer->left_ns = ns - us * 1000;
    return to_and_fro((int64_t)us);
}

static void write_worths(struct writer *writer)
{
    bool differ = false;

    writer->usual_ns = median_ns(writer);
    for (size_t i = 0; i < writer->count; i++)
        differ |= writer->hits[i].ns != writer->usual_ns;
    write_numbers(writer, "ns", differ ? writer->count : 0, worth_of_hit);
    fprintf(writer->stream, "\"usual\":%" PRIu64, writer->usual_ns);
}

/* Samples are of whole threads, as slices are, and of this recording's own times. */
static bool has_own_times(const struct profile *profile)
{
    return !(profile->selection && profile->selection->functions.count) && !profile->borrowed.path;
}

static void writer_free(struct writer *writer)
{
    free(writer->hits);
    free(writer->stacks.numbers);
    free(writer->stacks.places);
    free(writer->stacks.child);
    free(writer->stacks.next);
    pair_index_free(&writer->keys);
    free(writer->spots);
    free(writer->places);
    free(writer->innermost);
    pair_index_free(&writer->inlined);
    free(writer->calls);
    free(writer->outer);
    pair_index_free(&writer->names);
}

void hit_columns_write(FILE *stream, const struct report *report, const struct report_files *files,
                       const struct part *part)
{
    struct writer writer = {.stream = stream, .report = report, .files = files, .part = part};

    if (!part->hits.count || !has_own_times(report->profile)) {
        fputs("null", stream);
        return;
    }
    keep_hits(&writer);
    order_stacks(&writer);
    order_spots(&writer);
    putc('{', stream);
    write_numbers(&writer, "at", writer.count, time_of_hit);
    write_numbers(&writer, "stack", writer.count, stack_of_hit);
    write_numbers(&writer, "spot", writer.count, spot_of_hit);
    write_numbers(&writer, "up", writer.stacks.count - 1, up_of_stack);
    write_numbers(&writer, "function", writer.stacks.count - 1, function_of_stack);
    write_numbers(&writer, "offset", writer.keys.count, offset_of_spot);
    write_numbers(&writer, "file", writer.keys.count, file_of_spot);
    write_numbers(&writer, "line", writer.keys.count, line_of_spot);
    find_inlined(&writer);
    write_inlined(&writer);
    write_worths(&writer);
    putc('}', stream);
    writer_free(&writer);
}
