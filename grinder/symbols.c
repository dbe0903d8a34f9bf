#include "grinder/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/memory.h"

/* A global name is what others call the function by; a local alias may be an accident. */
static int rank_of(const Elf64_Sym *symbol)
{
    int function = ELF64_ST_TYPE(symbol->st_info) != STT_NOTYPE;

    switch (ELF64_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
        return 4 * function + 2;
    case STB_WEAK:
        return 4 * function + 1;
    default:
        return 4 * function;
    }
}

static int is_code(const Elf64_Sym *symbol)
{
    int type = ELF64_ST_TYPE(symbol->st_info);

    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && symbol->st_value &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static void add_symbols(struct symbol_table *table, const Elf64_Sym *symbols, size_t count,
                        const char *strings, uint64_t strings_size)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_code(&symbols[i]) || symbols[i].st_name >= strings_size ||
            !strings[symbols[i].st_name])
            continue;
        table->symbols =
            memory_grow(table->symbols, table->count, &table->room, sizeof(*table->symbols));
        table->symbols[table->count++] = (struct symbol){
            symbols[i].st_value, strings + symbols[i].st_name, rank_of(&symbols[i])};
    }
}

static void add_section(struct symbol_table *table, const struct elf_file *elf, uint32_t type)
{
    const Elf64_Shdr *section = elf_section_of_type(elf, type);
    Elf64_Sym *symbols;
    char *strings;

    if (!section || section->sh_link >= elf->section_count ||
        table->string_count == sizeof(table->strings) / sizeof(*table->strings))
        return;
    symbols = elf_section_read(elf, section);
    strings = elf_section_read(elf, &elf->sections[section->sh_link]);
    if (symbols && strings) {
        add_symbols(table, symbols, section->sh_size / sizeof(*symbols), strings,
                    elf->sections[section->sh_link].sh_size);
        table->strings[table->string_count++] = strings;
        strings = NULL;
    }
    free(symbols);
    free(strings);
}

void symbol_table_add(struct symbol_table *table, const struct elf_file *elf)
{
    add_section(table, elf, SHT_SYMTAB);
    add_section(table, elf, SHT_DYNSYM);
}

/* By address, the best name first; among equals the alphabet decides, so that runs agree. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->rank != b->rank)
        return b->rank - a->rank;
    return strcmp(a->name, b->name);
}

void symbol_table_sort(struct symbol_table *table)
{
    if (table->count)
        qsort(table->symbols, table->count, sizeof(*table->symbols), compare_symbols);
}

const char *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == table->count || table->symbols[low].address != address)
        return NULL;
    return table->symbols[low].name;
}

void symbol_table_free(struct symbol_table *table)
{
    for (size_t i = 0; i < table->string_count; i++)
        free(table->strings[i]);
    free(table->symbols);
    *table = (struct symbol_table){0};
}
