#include "grinder/image/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"

void symbol_table_add(struct symbol_table *table, uint64_t address, const char *name,
                      enum symbol_rank rank)
{
    table->symbols =
        memory_grow(table->symbols, table->count, &table->room, sizeof(*table->symbols));
    table->symbols[table->count++] = (struct symbol){address, name, rank};
}

void symbol_table_own(struct symbol_table *table, void *strings)
{
    table->owned =
        memory_grow(table->owned, table->owned_count, &table->owned_room, sizeof(*table->owned));
    table->owned[table->owned_count++] = strings;
}

/* Longer names that begin alike are not told apart: a hostile file may hold many of them. */
#define COMPARED 1024

/* By address, the best name first; among equals the alphabet decides, so that runs agree. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->rank != b->rank)
        return (int)b->rank - (int)a->rank;
    return a->name == b->name ? 0 : strncmp(a->name, b->name, COMPARED);
}

void symbol_table_sort(struct symbol_table *table)
{
    if (table->count)
        qsort(table->symbols, table->count, sizeof(*table->symbols), compare_symbols);
}

const char *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
    size_t found = partition_point(i, table->count, table->symbols[i].address < address);

    if (found == table->count || table->symbols[found].address != address)
        return NULL;
    return table->symbols[found].name;
}

void symbol_table_free(struct symbol_table *table)
{
    for (size_t i = 0; i < table->owned_count; i++)
        free(table->owned[i]);
    free(table->owned);
    free(table->symbols);
    *table = (struct symbol_table){0};
}
