/* Names of functions in an ELF file. */
#ifndef UMBRA_GRINDER_ELF_SYMBOLS_H
#define UMBRA_GRINDER_ELF_SYMBOLS_H

#include "grinder/image/symbols.h"
#include "image/elf_file.h"

/* Adds the functions in .symtab and .dynsym. A file without them, or with broken ones, adds none.
 */
void elf_symbols_add(struct symbol_table *table, const struct elf_file *elf);

#endif
