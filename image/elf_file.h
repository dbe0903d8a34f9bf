/* Sections of an ELF64 x86-64 file, by name or type, each offset checked against its size. */
#ifndef UMBRA_IMAGE_ELF_FILE_H
#define UMBRA_IMAGE_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* False, with a text without the path ("is not an ELF64 x86-64 file"). Takes the file over, which
   elf_close closes, in either case. */
bool elf_open(struct elf_file *elf, struct bounded_file file, struct failure *failure);
void elf_close(struct elf_file *elf);

/* Null if there is none with contents in the file. */
const Elf64_Shdr *elf_section_named(const struct elf_file *elf, const char *name);
const Elf64_Shdr *elf_section_of_type(const struct elf_file *elf, uint32_t type);

/* size bytes at offset, to be freed, with a zero behind them; null if they are not in the file. */
void *elf_read(const struct elf_file *elf, uint64_t offset, uint64_t size);
void *elf_section_read(const struct elf_file *elf, const Elf64_Shdr *section);

#endif
