/* Names of function entries, gathered from all that know some: symbol tables, exports, PDBs. */
#ifndef UMBRA_GRINDER_SYMBOLS_H
#define UMBRA_GRINDER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* The highest of several names at one address is shown. Among global and weak ones, though, those
   that C reserves for the implementation (__libc_malloc, _IO_printf) come last: malloc is what
   people call it. */
enum symbol_rank {
    RANK_ORDINAL, /* an export that has a number only */
    RANK_LABEL,   /* of no type, as assembly has them */
    RANK_WEAK_LABEL,
    RANK_GLOBAL_LABEL,
    RANK_EXPORT,
    RANK_LOCAL,
    RANK_WEAK,
    RANK_GLOBAL,
    RANK_IMPORT,    /* the slot of a function of another image */
    RANK_PROCEDURE, /* a PDB's own name of a function, without decoration */
};

struct symbol {
    uint64_t address; /* as linked */
    const char *name; /* in one of the strings owned */
    enum symbol_rank rank;
};

/* All zero is an empty table. */
struct symbol_table {
    struct symbol *symbols; /* ascending by address once symbol_table_sort was called */
    size_t count, room;
    void **owned; /* what the names lie in */
    size_t owned_count, owned_room;
};

/* name must last as long as the table does: see symbol_table_own. */
void symbol_table_add(struct symbol_table *table, uint64_t address, const char *name,
                      enum symbol_rank rank);

/* Hands over strings (from malloc) that names lie in. */
void symbol_table_own(struct symbol_table *table, void *strings);

void symbol_table_sort(struct symbol_table *table);
void symbol_table_free(struct symbol_table *table);

/* The name of the function that begins at address, null if there is none. */
const char *symbol_table_find(const struct symbol_table *table, uint64_t address);

/* The others, but for those longer than a name is: each with its zero, a zero behind the last. To
   be freed; null if there are none. */
char *symbol_table_aliases(const struct symbol_table *table, uint64_t address);

#endif
