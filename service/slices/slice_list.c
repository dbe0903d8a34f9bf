#include "service/slices/slice_list.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_LIMIT (1u << 20) /* of a list: 40 MiB; past it slices are merged early */
#define NUMBER_SIZE 10u        /* bytes of a number at most */
#define ENTRY_SIZE  (5u * NUMBER_SIZE)

bool slice_list_open(struct slice_list *list, size_t limit)
{
    *list = (struct slice_list){.limit = limit};
    list->parts = calloc(limit, sizeof(*list->parts));
    return list->parts != NULL;
}

void slice_list_close(struct slice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->parts[i].entries);
    free(list->parts);
    *list = (struct slice_list){0};
}

static int compare_entries(const void *left, const void *right)
{
    const struct slice_entry *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static void add_to(struct slice_entry *sum, const struct slice_entry *entry)
{
    sum->self += entry->self;
    sum->total += entry->total;
    sum->calls += entry->calls;
}

/* Sorted entries, doubles added up, those that came to nothing left out. Returns how many. */
static size_t combine(struct slice_entry *entries, size_t count)
{
    size_t to = 0;

    if (count)
        qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t from = 0; from < count;) {
        struct slice_entry sum = entries[from++];
        while (from < count && !compare_entries(&sum, &entries[from]))
            add_to(&sum, &entries[from++]);
        if (sum.self || sum.total || sum.calls)
            entries[to++] = sum;
    }
    return to;
}

/* b goes into a. */
static bool merge(struct slice_part *a, struct slice_part *b)
{
    size_t count = a->count + b->count;
    struct slice_entry *both = malloc((count + 1) * sizeof(*both));

    if (!both)
        return false;
    if (a->count)
        memcpy(both, a->entries, a->count * sizeof(*both));
    if (b->count)
        memcpy(both + a->count, b->entries, b->count * sizeof(*both));
    free(a->entries);
    free(b->entries);
    *a = (struct slice_part){b->end_ticks, both, combine(both, count)};
    *b = (struct slice_part){0};
    return true;
}

static bool double_widths(struct slice_list *list)
{
    size_t to = 0;

    list->entry_count = 0;
    for (size_t from = 0; from < list->count; from += 2, to++) {
        if (from + 1 < list->count && !merge(&list->parts[from], &list->parts[from + 1]))
            return false;
        if (to != from) {
            list->parts[to] = list->parts[from];
            list->parts[from] = (struct slice_part){0};
        }
        list->entry_count += list->parts[to].count;
    }
    list->count = to;
    list->doublings++;
    return true;
}

bool slice_list_add(struct slice_list *list, uint64_t end_ticks, struct slice_entry *entries,
                    size_t count)
{
    struct slice_entry *copy;

    count = combine(entries, count);
    while (list->count == list->limit ||
           (list->count > 1 && list->entry_count + count > ENTRY_LIMIT))
        if (!double_widths(list))
            return false;
    copy = malloc((count + 1) * sizeof(*copy));
    if (!copy)
        return false;
    if (count)
        memcpy(copy, entries, count * sizeof(*copy));
    list->parts[list->count++] = (struct slice_part){end_ticks, copy, count};
    list->entry_count += count;
    return true;
}

static unsigned char *put_number(unsigned char *at, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    return at;
}

static unsigned char *put_signed(unsigned char *at, int64_t value)
{
    return put_number(at, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static unsigned char *put_part(unsigned char *at, const struct slice_part *part)
{
    struct slice slice = {part->end_ticks, (uint32_t)part->count, 0};
    unsigned char *start = at + sizeof(slice);
    struct slice_entry before = {0};

    at = start;
    for (size_t i = 0; i < part->count; i++) {
        const struct slice_entry *entry = &part->entries[i];
        at = put_number(at, entry->thread - before.thread);
        at = put_signed(at, (int64_t)entry->function - before.function);
        at = put_signed(at, entry->self);
        at = put_signed(at, entry->total);
        at = put_number(at, entry->calls);
        before = *entry;
    }
    slice.size = (uint32_t)(at - start);
    memcpy(start - sizeof(slice), &slice, sizeof(slice));
    return at;
}

unsigned char *slice_list_code(const struct slice_list *list, struct slices_header *header,
                               size_t *size)
{
    unsigned char *bytes = malloc(sizeof(*header) + list->count * sizeof(struct slice) +
                                  list->entry_count * ENTRY_SIZE);
    unsigned char *at = bytes;

    if (!bytes)
        return NULL;
    memcpy(header->magic, SLICES_MAGIC, sizeof(header->magic));
    header->version = SLICES_VERSION;
    header->slice_count = (uint32_t)list->count;
    memcpy(at, header, sizeof(*header));
    at += sizeof(*header);
    for (size_t i = 0; i < list->count; i++)
        at = put_part(at, &list->parts[i]);
    *size = (size_t)(at - bytes);
    return bytes;
}
