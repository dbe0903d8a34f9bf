#include "image/elf_file.h"

#include <stdlib.h>
#include <string.h>

void *elf_read(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
    return bounded_file_copy(&elf->file, offset, size);
}

void *elf_section_read(const struct elf_file *elf, const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS)
        return NULL;
    return elf_read(elf, section->sh_offset, section->sh_size);
}

Elf64_Sym *elf_section_symbols(const struct elf_file *elf, const Elf64_Shdr *section,
                               uint64_t *count)
{
    *count = 0;
    if (section->sh_type == SHT_NOBITS)
        return NULL;
    return elf_symbols_copy(&elf->header, &elf->file, section->sh_offset, section->sh_size, count);
}

/* A file without section headers, or with broken ones, has no sections; that is no error. */
static void read_sections(struct elf_file *elf)
{
    const Elf64_Ehdr *header = &elf->header;
    uint64_t count = header->e_shnum;
    uint64_t names = header->e_shstrndx;
    Elf64_Shdr *first = elf_sections_copy(header, &elf->file, 1);

    if (!first)
        return;
    if (!count)
        count = first->sh_size;
    if (names == SHN_XINDEX)
        names = first->sh_link;
    free(first);
    elf->sections = elf_sections_copy(header, &elf->file, count);
    if (!elf->sections)
        return;
    elf->section_count = count;
    if (names >= count)
        return;
    elf->names = elf_section_read(elf, &elf->sections[names]);
    elf->names_size = elf->names ? elf->sections[names].sh_size : 0;
}

bool elf_open(struct elf_file *elf, struct bounded_file file, struct failure *failure)
{
    *elf = (struct elf_file){.file = file};
    if (!elf_header_read(&elf->header, &file) || !elf_is_known(&elf->header)) {
        elf_close(elf);
        return fail_because(failure, "is not an ELF file for x86-64 or i386");
    }
    read_sections(elf);
    return true;
}

void elf_close(struct elf_file *elf)
{
    bounded_file_close(&elf->file);
    free(elf->sections);
    free(elf->names);
    *elf = (struct elf_file){.file.fd = -1};
}

const Elf64_Shdr *elf_section_named(const struct elf_file *elf, const char *name)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_type != SHT_NOBITS && section->sh_name < elf->names_size &&
            !strcmp(elf->names + section->sh_name, name))
            return section;
    }
    return NULL;
}

const Elf64_Shdr *elf_section_of_type(const struct elf_file *elf, uint32_t type)
{
    for (size_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].sh_type == type)
            return &elf->sections[i];
    return NULL;
}
