#include "grinder/image/elf_symbols.h"

#include <stdlib.h>

/* A global name is what others call the function by; a local alias may be an accident. */
static enum symbol_rank rank_of(const Elf64_Sym *symbol)
{
    int is_label = ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;

    switch (ELF64_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
        return is_label ? RANK_GLOBAL_LABEL : RANK_GLOBAL;
    case STB_WEAK:
        return is_label ? RANK_WEAK_LABEL : RANK_WEAK;
    default:
        return is_label ? RANK_LABEL : RANK_LOCAL;
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
        symbol_table_add(table, symbols[i].st_value, strings + symbols[i].st_name,
                         rank_of(&symbols[i]));
    }
}

static void add_section(struct symbol_table *table, const struct elf_file *elf, uint32_t type)
{
    const Elf64_Shdr *section = elf_section_of_type(elf, type);
    Elf64_Sym *symbols;
    uint64_t count;
    char *strings;

    if (!section || section->sh_link >= elf->section_count)
        return;
    symbols = elf_section_symbols(elf, section, &count);
    strings = elf_section_read(elf, &elf->sections[section->sh_link]);
    if (symbols && strings) {
        add_symbols(table, symbols, count, strings, elf->sections[section->sh_link].sh_size);
        symbol_table_own(table, strings);
        strings = NULL;
    }
    free(symbols);
    free(strings);
}

void elf_symbols_add(struct symbol_table *table, const struct elf_file *elf)
{
    add_section(table, elf, SHT_SYMTAB);
    add_section(table, elf, SHT_DYNSYM);
}
