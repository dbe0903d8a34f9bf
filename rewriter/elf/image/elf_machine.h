/* Which files are ours to rewrite: ELF of a class that elf_class.h has, program or library. */
#ifndef UMBRA_REWRITER_ELF_MACHINE_H
#define UMBRA_REWRITER_ELF_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "support/failure.h"

/* Looks at the ELF header alone; what it refuses it names. */
bool elf_machine_accept(const char *path, const uint8_t *bytes, size_t size,
                        struct failure *failure);

#endif
