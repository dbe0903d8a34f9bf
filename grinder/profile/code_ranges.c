#include "grinder/profile/code_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"

/* The first range that ends behind the address. */
static size_t place_of(const struct code_ranges *ranges, uint64_t address)
{
    return partition_point(i, ranges->count, ranges->items[i].end <= address);
}

static void insert(struct code_ranges *ranges, size_t at, struct code_range range)
{
    ranges->items =
        memory_grow(ranges->items, ranges->count, &ranges->room, sizeof(*ranges->items));
    memmove(ranges->items + at + 1, ranges->items + at,
            (ranges->count - at) * sizeof(*ranges->items));
    ranges->items[at] = range;
    ranges->count++;
}

void code_ranges_put(struct code_ranges *ranges, uint64_t address, uint64_t length, uint32_t module)
{
    struct code_range range = {address, address + length, module};
    size_t first, behind;

    if (range.end < address)
        range.end = UINT64_MAX;
    if (range.end == address)
        return;
    first = place_of(ranges, address);
    if (first < ranges->count && ranges->items[first].begin < address) {
        insert(ranges, first, ranges->items[first]);
        ranges->items[first++].end = address;
        ranges->items[first].begin = address;
    }
    behind = place_of(ranges, range.end);
    if (behind < ranges->count && ranges->items[behind].begin < range.end)
        ranges->items[behind].begin = range.end;
    if (behind > first) { /* one of those that are covered makes room */
        memmove(ranges->items + first + 1, ranges->items + behind,
                (ranges->count - behind) * sizeof(*ranges->items));
        ranges->count -= behind - first - 1;
        ranges->items[first] = range;
    } else {
        insert(ranges, first, range);
    }
}

uint32_t code_ranges_find(const struct code_ranges *ranges, uint64_t address)
{
    size_t place = place_of(ranges, address);

    return place < ranges->count && ranges->items[place].begin <= address
               ? ranges->items[place].module
               : 0;
}

void code_ranges_free(struct code_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct code_ranges){0};
}
