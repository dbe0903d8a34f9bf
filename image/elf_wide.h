/*
 * The tables of an ELF file as those of 64 bits have them, whatever its class. A file of 32 bits is widened here, and
 * nowhere else do its readers see that it was one:
 *
 *      Elf32_Ehdr, 52 bytes -> Elf64_Ehdr, 64      sizes of entries are those of 64 bits, or 0 if the file has others
 *      Elf32_Phdr, 32       -> Elf64_Phdr, 56      p_flags stands elsewhere
 *      Elf32_Shdr, 40       -> Elf64_Shdr, 64
 *      Elf32_Sym,  16       -> Elf64_Sym,  24      so do st_info, st_other and st_shndx
 */
#ifndef UMBRA_IMAGE_ELF_WIDE_H
#define UMBRA_IMAGE_ELF_WIDE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/bounded_file.h"

/* False: it is no ELF file, or not whole. Its class stays in e_ident. */
bool elf_header_read(Elf64_Ehdr *header, const struct bounded_file *file);

/* Whether it is of a processor whose programs are instrumented: x86-64, or i386, each of its class. */
bool elf_is_known(const Elf64_Ehdr *header);

/* Copies, to be freed; null: there are none, or they are not in the file. Of program headers there are
   header->e_phnum. */
Elf64_Phdr *elf_segments_copy(const Elf64_Ehdr *header, const struct bounded_file *file);
Elf64_Shdr *elf_sections_copy(const Elf64_Ehdr *header, const struct bounded_file *file, uint64_t count);

/* As many symbols as size bytes at that offset are. */
Elf64_Sym *elf_symbols_copy(const Elf64_Ehdr *header, const struct bounded_file *file, uint64_t offset,
                            uint64_t size, uint64_t *count);

#endif
