/* Names of function entries, from the symbol tables of one or more ELF files. */
#ifndef UMBRA_GRINDER_SYMBOLS_H
#define UMBRA_GRINDER_SYMBOLS_H

#include "grinder/elf_file.h"

struct symbol {
    uint64_t address; /* as linked */
    const char *name; /* in one of the string tables */
    int rank;         /* of several at one address, the highest is shown */
};

struct symbol_table {
    struct symbol *symbols; /* ascending by address once symbol_table_sort was called */
    size_t count, room;
    char *strings[4]; /* string tables, owned */
    size_t string_count;
};

/* Adds the functions in .symtab and .dynsym. A file without them, or with broken ones, adds none.
 */
void symbol_table_add(struct symbol_table *table, const struct elf_file *elf);
void symbol_table_sort(struct symbol_table *table);
void symbol_table_free(struct symbol_table *table);

/* The name of the function that begins at address, null if there is none. */
const char *symbol_table_find(const struct symbol_table *table, uint64_t address);

#endif
