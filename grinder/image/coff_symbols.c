/* The COFF symbol table, which mingw leaves in its images. */
#include <stdlib.h>
#include <string.h>

#include "grinder/image/pe_file.h"
#include "grinder/image/symbols.h"
#include "support/memory.h"

static enum symbol_rank rank_of(const struct pe_symbol *symbol)
{
    int is_label = symbol->type != PE_SYMBOL_FUNCTION;

    switch (symbol->storage) {
    case PE_SYMBOL_EXTERNAL:
        return is_label ? RANK_GLOBAL_LABEL : RANK_GLOBAL;
    case PE_SYMBOL_WEAK:
        return is_label ? RANK_WEAK_LABEL : RANK_WEAK;
    default:
        return is_label ? RANK_LABEL : RANK_LOCAL;
    }
}

/* Names of sections stand among the static symbols; they begin with a dot. */
static int is_code(const struct pe_file *pe, const struct pe_symbol *symbol)
{
    if (symbol->section < 1 || (size_t)symbol->section > pe->section_count ||
        !pe->sections[symbol->section - 1].is_code)
        return 0;
    if (symbol->storage == PE_SYMBOL_STATIC || symbol->storage == PE_SYMBOL_LABEL)
        return *symbol->name != '.';
    return symbol->storage == PE_SYMBOL_EXTERNAL || symbol->storage == PE_SYMBOL_WEAK;
}

/* Null if it has none. A name of up to eight bytes is copied to *copies, which moves on. */
static const char *name_of(const char *strings, uint32_t strings_size,
                           const struct pe_symbol *symbol, char (**copies)[9])
{
    if (!symbol->zero)
        return symbol->name_offset >= sizeof(uint32_t) && symbol->name_offset < strings_size
                   ? strings + symbol->name_offset
                   : NULL;
    memcpy(**copies, symbol->name, sizeof(symbol->name));
    return *(*copies)++;
}

/* Symbols of i386 have an underscore in front of what the source calls them. */
static const char *without_underscore(const struct pe_file *pe, const char *name)
{
    return pe->header.machine == PE_MACHINE_I386 && name && *name == '_' ? name + 1 : name;
}

void coff_symbols_add(struct symbol_table *table, const struct pe_file *pe)
{
    uint64_t count = pe->header.symbol_count;
    struct pe_symbol *symbols;
    char(*copies)[9], *strings;

    if (!pe->header.symbols || !count || !pe->strings)
        return;
    symbols = bounded_file_copy(&pe->file, pe->header.symbols, count * sizeof(*symbols));
    if (!symbols)
        return;
    copies = memory_zeroed(count, sizeof(*copies));
    symbol_table_own(table, copies);
    strings = memory_zeroed(pe->strings_size + 1ull, 1);
    symbol_table_own(table, strings);
    memcpy(strings, pe->strings, pe->strings_size);
    for (uint64_t i = 0; i < count; i += 1u + symbols[i].auxiliaries) {
        const struct pe_symbol *symbol = &symbols[i];
        const char *name =
            is_code(pe, symbol) ? name_of(strings, pe->strings_size, symbol, &copies) : NULL;
        name = without_underscore(pe, name);
        if (name && *name && *name != '.')
            symbol_table_add(table,
                             pe->image_base + pe->sections[symbol->section - 1].rva + symbol->value,
                             name, rank_of(symbol));
    }
    free(symbols);
}
