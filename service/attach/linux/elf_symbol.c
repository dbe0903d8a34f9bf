#include "service/attach/linux/elf_symbol.h"

#include <stdlib.h>
#include <string.h>

uint64_t elf_symbol_value(const struct elf_file *elf, const char *name)
{
    const Elf64_Shdr *section = elf_section_of_type(elf, SHT_DYNSYM);
    uint64_t value = 0, count = 0;
    Elf64_Sym *symbols = section ? elf_section_symbols(elf, section, &count) : NULL;
    char *names = NULL;

    if (symbols && section->sh_link < elf->section_count)
        names = elf_section_read(elf, &elf->sections[section->sh_link]);
    for (size_t i = 0; names && !value && i < count; i++)
        if (symbols[i].st_shndx != SHN_UNDEF &&
            symbols[i].st_name < elf->sections[section->sh_link].sh_size &&
            !strcmp(names + symbols[i].st_name, name))
            value = symbols[i].st_value;
    free(names);
    free(symbols);
    return value;
}
