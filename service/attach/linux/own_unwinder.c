#include "service/attach/linux/own_unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "image/elf_file.h"

/* What was found among the symbols. */
struct search {
    uint64_t low, high;
    bool has_finder, is_another;
};

static bool begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/* libgcc's functions are one object file: local ones lie among those with such names. Their cold
   parts, which lie elsewhere, are the innermost frame, if any. */
static void look_at(struct search *search, const Elf64_Sym *symbol, const char *name)
{
    if (!strcmp(name, "__unw_step") || !strcmp(name, "unw_step"))
        search->is_another = true;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        (!begins(name, "_Unwind_") && !begins(name, "uw_")) || strstr(name, ".cold"))
        return;
    search->has_finder |= !strcmp(name, "_Unwind_Find_FDE");
    if (!search->high || symbol->st_value < search->low)
        search->low = symbol->st_value;
    if (symbol->st_value + symbol->st_size > search->high)
        search->high = symbol->st_value + symbol->st_size;
}

static void look_at_all(struct search *search, const struct elf_file *elf)
{
    const Elf64_Shdr *section = elf_section_of_type(elf, SHT_SYMTAB), *strings;
    uint64_t count = 0;
    Elf64_Sym *symbols = section ? elf_section_symbols(elf, section, &count) : NULL;
    char *names = NULL;

    strings =
        symbols && section->sh_link < elf->section_count ? &elf->sections[section->sh_link] : NULL;
    if (strings)
        names = elf_section_read(elf, strings);
    for (size_t i = 0; names && i < count; i++)
        if (symbols[i].st_name < strings->sh_size &&
            memchr(names + symbols[i].st_name, 0, strings->sh_size - symbols[i].st_name))
            look_at(search, &symbols[i], names + symbols[i].st_name);
    free(names);
    free(symbols);
}

bool own_unwinder_find(const char *path, uint64_t *low, uint64_t *high)
{
    struct search search = {0};
    struct bounded_file file;
    struct elf_file elf;
    struct failure ignored;

    if (!bounded_file_open(&file, path, &ignored) || !elf_open(&elf, file, &ignored))
        return false;
    look_at_all(&search, &elf);
    elf_close(&elf);
    *low = search.low;
    *high = search.high;
    return search.has_finder && !search.is_another;
}
