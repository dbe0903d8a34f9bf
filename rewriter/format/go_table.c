#include "rewriter/format/go_table.h"

#include <string.h>

#include "rewriter/code/find_bytes.h"

#define HEAD_SIZE 16 /* up to the number of functions */

/* Behind the lowest byte of the magic number. */
static const uint8_t mark[] = {0xff, 0xff, 0xff, 0, 0, 1, 8};

struct table {
    const uint8_t *bytes;
    uint64_t size; /* up to the end of what is in the file */
    uint64_t functions;
};

static uint64_t number_at(const struct table *table, uint64_t offset, size_t size)
{
    uint64_t number = 0;

    if (offset <= table->size && size <= table->size - offset)
        memcpy(&number, table->bytes + offset, size);
    return number;
}

/* At `start` are an entry for each function and one more address; behind them is what the entries'
   offsets lead to, which are counted from there. Half an entry is an address. */
static bool has_entries(const struct table *table, uint64_t start, size_t half)
{
    uint64_t entries = table->functions * 2 * half + half;
    uint64_t first = number_at(table, start + half, half);

    return start <= table->size && entries <= table->size - start && first >= entries &&
           first < table->size - start &&
           number_at(table, start, half) <= number_at(table, start + 2 * half, half);
}

static bool is_old_table(const struct table *table)
{
    uint64_t end = HEAD_SIZE + table->functions * 16, files = number_at(table, end + 8, 4);
    uint64_t first = number_at(table, HEAD_SIZE + 8, 8);

    return first > end && first < table->size && files > end && files < table->size;
}

/* `offsets`: where the five of them are. */
static bool is_new_table(const struct table *table, uint64_t offsets, size_t half)
{
    uint64_t before = offsets + 5 * 8, next = 0;

    for (uint64_t at = offsets; at < offsets + 5 * 8; at += 8, before = next) {
        next = number_at(table, at, 8);
        if (next < before || next >= table->size)
            return false;
    }
    return number_at(table, HEAD_SIZE, 8) < table->size && has_entries(table, next, half);
}

static bool is_table(const uint8_t *bytes, size_t size)
{
    struct table table = {.bytes = bytes, .size = size};

    table.functions = number_at(&table, 8, 8);
    if (table.functions == 0 || table.functions > size / 8)
        return false;
    switch (bytes[0]) {
    case 0xf0:
    case 0xf1:
        return is_new_table(&table, 32, 4);
    case 0xfa:
        return is_new_table(&table, 24, 8);
    case 0xfb:
        return is_old_table(&table);
    default:
        return false;
    }
}

size_t go_table_next(const uint8_t *bytes, size_t size, size_t from)
{
    const uint8_t *end = bytes + size, *at = bytes + from;

    while (at < end && (at = find_bytes(at, end, mark, sizeof(mark))) != NULL) {
        if ((size_t)(at - bytes) > from && is_table(at - 1, (size_t)(end - (at - 1))))
            return (size_t)(at - 1 - bytes);
        at++;
    }
    return SIZE_MAX;
}

bool go_table_is_pointed_to(const uint8_t *bytes, size_t size, uint64_t start, uint64_t address)
{
    const uint8_t *end = bytes + size, *at = bytes;

    for (; at < end && (at = memmem(at, (size_t)(end - at), &address, sizeof(address))); at++)
        if ((start + (uint64_t)(at - bytes)) % sizeof(address) == 0)
            return true;
    return false;
}
