#include "grinder/image/symbols.h"

#include <stdbool.h>
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
/* Bytes of a function's aliases after which no more are kept: a hostile file may hold many. */
#define MAX_ALIASES 16384

/* __x and _X. What begins with _Z or _R is mangled, and nobody's in particular. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')) &&
           name[1] != 'Z' && name[1] != 'R';
}

/* enum symbol_rank, with the reserved among the weak and global ones in front of the others. */
static int place_of(const struct symbol *symbol)
{
    int others = RANK_GLOBAL - RANK_WEAK + 1;

    if (symbol->rank < RANK_WEAK)
        return (int)symbol->rank;
    if (symbol->rank <= RANK_GLOBAL && is_reserved(symbol->name))
        return (int)symbol->rank;
    return (int)symbol->rank + others;
}

/* By address, the best name first; among equals the alphabet decides, so that runs agree. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (place_of(a) != place_of(b))
        return place_of(b) - place_of(a);
    return a->name == b->name ? 0 : strncmp(a->name, b->name, COMPARED);
}

void symbol_table_sort(struct symbol_table *table)
{
    if (table->count)
        qsort(table->symbols, table->count, sizeof(*table->symbols), compare_symbols);
}

static size_t first_at(const struct symbol_table *table, uint64_t address)
{
    return partition_point(i, table->count, table->symbols[i].address < address);
}

const char *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
    size_t found = first_at(table, address);

    if (found == table->count || table->symbols[found].address != address)
        return NULL;
    return table->symbols[found].name;
}

struct text {
    char *bytes;
    size_t size, room;
};

static void add_bytes(struct text *text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text->bytes = memory_grow(text->bytes, text->size, &text->room, 1);
        text->bytes[text->size++] = bytes[i];
    }
}

char *symbol_table_aliases(const struct symbol_table *table, uint64_t address)
{
    struct text aliases = {0};

    for (size_t i = first_at(table, address) + 1;
         i < table->count && table->symbols[i].address == address && aliases.size < MAX_ALIASES;
         i++) {
        const char *name = table->symbols[i].name;
        if (strlen(name) < COMPARED && strcmp(name, table->symbols[i - 1].name) != 0)
            add_bytes(&aliases, name, strlen(name) + 1);
    }
    if (aliases.bytes)
        add_bytes(&aliases, "", 1);
    return aliases.bytes;
}

void symbol_table_free(struct symbol_table *table)
{
    for (size_t i = 0; i < table->owned_count; i++)
        free(table->owned[i]);
    free(table->owned);
    free(table->symbols);
    *table = (struct symbol_table){0};
}
