/* Symbols that a file exports, by name. */
#ifndef UMBRA_SERVICE_ELF_SYMBOL_H
#define UMBRA_SERVICE_ELF_SYMBOL_H

#include <stdint.h>

#include "image/elf_file.h"

/* Its value, an address as linked; 0: the file defines none of that name. */
uint64_t elf_symbol_value(const struct elf_file *elf, const char *name);

#endif
