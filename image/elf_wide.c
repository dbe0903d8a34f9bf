#include "image/elf_wide.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

/* A table's entries in both classes. */
struct entries {
    size_t narrow, wide; /* sizes */
    void (*widen)(void *wide, const void *narrow);
};

static void widen_segment(void *wide, const void *narrow)
{
    const Elf32_Phdr *from = narrow;
    Elf64_Phdr *to = wide;

    *to = (Elf64_Phdr){.p_type = from->p_type,
                       .p_flags = from->p_flags,
                       .p_offset = from->p_offset,
                       .p_vaddr = from->p_vaddr,
                       .p_paddr = from->p_paddr,
                       .p_filesz = from->p_filesz,
                       .p_memsz = from->p_memsz,
                       .p_align = from->p_align};
}

static void widen_section(void *wide, const void *narrow)
{
    const Elf32_Shdr *from = narrow;
    Elf64_Shdr *to = wide;

    *to = (Elf64_Shdr){.sh_name = from->sh_name,
                       .sh_type = from->sh_type,
                       .sh_flags = from->sh_flags,
                       .sh_addr = from->sh_addr,
                       .sh_offset = from->sh_offset,
                       .sh_size = from->sh_size,
                       .sh_link = from->sh_link,
                       .sh_info = from->sh_info,
                       .sh_addralign = from->sh_addralign,
                       .sh_entsize = from->sh_entsize};
}

static void widen_symbol(void *wide, const void *narrow)
{
    const Elf32_Sym *from = narrow;
    Elf64_Sym *to = wide;

    *to = (Elf64_Sym){.st_name = from->st_name,
                      .st_info = from->st_info,
                      .st_other = from->st_other,
                      .st_shndx = from->st_shndx,
                      .st_value = from->st_value,
                      .st_size = from->st_size};
}

static const struct entries segments = {sizeof(Elf32_Phdr), sizeof(Elf64_Phdr), widen_segment};
static const struct entries sections = {sizeof(Elf32_Shdr), sizeof(Elf64_Shdr), widen_section};
static const struct entries symbols = {sizeof(Elf32_Sym), sizeof(Elf64_Sym), widen_symbol};

static void widen_header(Elf64_Ehdr *to, const Elf32_Ehdr *from)
{
    *to = (Elf64_Ehdr){
        .e_type = from->e_type,
        .e_machine = from->e_machine,
        .e_version = from->e_version,
        .e_entry = from->e_entry,
        .e_phoff = from->e_phoff,
        .e_shoff = from->e_shoff,
        .e_flags = from->e_flags,
        .e_ehsize = sizeof(*to),
        .e_phentsize = from->e_phentsize == segments.narrow ? sizeof(Elf64_Phdr) : 0,
        .e_phnum = from->e_phnum,
        .e_shentsize = from->e_shentsize == sections.narrow ? sizeof(Elf64_Shdr) : 0,
        .e_shnum = from->e_shnum,
        .e_shstrndx = from->e_shstrndx,
    };
    memcpy(to->e_ident, from->e_ident, sizeof(to->e_ident));
}

bool elf_header_read(Elf64_Ehdr *header, const struct bounded_file *file)
{
    Elf32_Ehdr narrow;

    if (bounded_file_read(file, &narrow, sizeof(narrow), 0) < 0 ||
        memcmp(narrow.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (narrow.e_ident[EI_CLASS] == ELFCLASS64)
        return bounded_file_read(file, header, sizeof(*header), 0) == 0;
    if (narrow.e_ident[EI_CLASS] != ELFCLASS32)
        return false;
    widen_header(header, &narrow);
    return true;
}

bool elf_is_known(const Elf64_Ehdr *header)
{
    if (header->e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    return header->e_ident[EI_CLASS] == ELFCLASS64 ? header->e_machine == EM_X86_64
                                                   : header->e_machine == EM_386;
}

static void *copy_entries(const Elf64_Ehdr *header, const struct bounded_file *file,
                          uint64_t offset, uint64_t count, const struct entries *entries)
{
    bool is_narrow = header->e_ident[EI_CLASS] == ELFCLASS32;
    size_t size = is_narrow ? entries->narrow : entries->wide;
    char *bytes, *wide;

    if (count > file->size / size)
        return NULL;
    bytes = bounded_file_copy(file, offset, count * size);
    if (!bytes || !is_narrow)
        return bytes;
    wide = memory_zeroed(count + 1, entries->wide);
    for (uint64_t i = 0; i < count; i++)
        entries->widen(wide + i * entries->wide, bytes + i * size);
    free(bytes);
    return wide;
}

Elf64_Phdr *elf_segments_copy(const Elf64_Ehdr *header, const struct bounded_file *file)
{
    if (header->e_phentsize != sizeof(Elf64_Phdr))
        return NULL;
    return copy_entries(header, file, header->e_phoff, header->e_phnum, &segments);
}

Elf64_Shdr *elf_sections_copy(const Elf64_Ehdr *header, const struct bounded_file *file,
                              uint64_t count)
{
    if (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return copy_entries(header, file, header->e_shoff, count, &sections);
}

Elf64_Sym *elf_symbols_copy(const Elf64_Ehdr *header, const struct bounded_file *file,
                            uint64_t offset, uint64_t size, uint64_t *count)
{
    *count = size / (header->e_ident[EI_CLASS] == ELFCLASS32 ? symbols.narrow : symbols.wide);
    return copy_entries(header, file, offset, *count, &symbols);
}
