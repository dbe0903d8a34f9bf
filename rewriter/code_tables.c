/*
 * Jump tables, of 32-bit distances from the table or of addresses. Where code takes the address
 * of data and jumps through a register, the data may be one. A table has no length; it ends where
 * the next may begin, or where its entries lead somewhere else than into the function and, now
 * and then, into a fragment of it. An entry too many costs at most a function left alone.
 */
#include "rewriter/code.h"

#include <stdlib.h>
#include <string.h>

#define STRAY_LIMIT 64 /* entries in a row that lead elsewhere: the table is over */

static int by_address(const void *left, const void *right)
{
    const struct code_table *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

static uint64_t target_of(const struct code_table *table, const uint8_t *entry, size_t size)
{
    uint64_t target = 0;
    int32_t distance;

    if (size == sizeof target) {
        memcpy(&target, entry, sizeof target);
        return target;
    }
    memcpy(&distance, entry, sizeof distance);
    return table->address + (uint64_t)(int64_t)distance;
}

static void note_entries(const struct code *code, const struct code_table *table, size_t size,
                         struct code_map *map)
{
    size_t entry_size = code->has_absolute_code ? 8 : 4, room, strays = 0;
    const uint8_t *bytes = code_data_at(code, table->address, &room);

    size = bytes && size > room ? room : size;
    for (; bytes && size >= entry_size && strays < STRAY_LIMIT; size -= entry_size) {
        uint64_t target = target_of(table, bytes, entry_size);
        bool is_own = target >= table->start && target < table->end;

        bytes += entry_size;
        if (!is_own && !code_range_at(code, target))
            return;
        strays = is_own ? 0 : strays + 1;
        if (is_own)
            address_set_add(&map->jumps, target);
        if (!is_own || target - table->start <= PATCH_MAX_DISPLACED)
            code_map_add(map, (struct branch){
                                  .target = target, .source = table->start, .kind = BRANCH_TABLE});
    }
}

void code_tables_note(const struct code *code, struct code_map *map)
{
    const struct code_table *tables = map->tables;
    uint64_t next = UINT64_MAX; /* where the table behind this one begins */

    if (map->table_count)
        qsort(map->tables, map->table_count, sizeof *map->tables, by_address);
    for (size_t i = map->table_count; i-- > 0;) {
        if (i + 1 < map->table_count && tables[i + 1].address != tables[i].address)
            next = tables[i + 1].address;
        else if (i + 1 < map->table_count && tables[i + 1].start == tables[i].start)
            continue; /* the same function takes its address more than once */
        note_entries(code, &tables[i], next - tables[i].address, map);
    }
}
