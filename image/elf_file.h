/* Sections of an ELF file for x86-64 or i386, by name or type, each offset checked against its size. Those of
   32 bits are as if they were of 64 (image/elf_wide.h), but for what elf_read and elf_section_read give. */
#ifndef UMBRA_IMAGE_ELF_FILE_H
#define UMBRA_IMAGE_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/elf_wide.h"
#include "support/bounded_file.h"
#include "support/failure.h"

struct elf_file {
    struct bounded_file file;
    Elf64_Ehdr header;
    Elf64_Shdr *sections; /* null if there are none */
    size_t section_count;
    char *names; /* of the sections; zero-terminated, null if there are none */
    size_t names_size;
};

/* False, with a text without the path ("is not an ELF file for x86-64 or i386"). Takes the file over, which
   elf_close closes, in either case. */
bool elf_open(struct elf_file *elf, struct bounded_file file, struct failure *failure);
void elf_close(struct elf_file *elf);

/* Null if there is none with contents in the file. */
const Elf64_Shdr *elf_section_named(const struct elf_file *elf, const char *name);
const Elf64_Shdr *elf_section_of_type(const struct elf_file *elf, uint32_t type);

/* size bytes at offset, to be freed, with a zero behind them; null if they are not in the file. */
void *elf_read(const struct elf_file *elf, uint64_t offset, uint64_t size);
void *elf_section_read(const struct elf_file *elf, const Elf64_Shdr *section);
/* The symbols of one that has such, to be freed; null if they are not in the file. */
Elf64_Sym *elf_section_symbols(const struct elf_file *elf, const Elf64_Shdr *section, uint64_t *count);

#endif
