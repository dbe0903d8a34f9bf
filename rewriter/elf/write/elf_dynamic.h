/* The dynamic section. */
#ifndef UMBRA_REWRITER_ELF_DYNAMIC_H
#define UMBRA_REWRITER_ELF_DYNAMIC_H

#include "rewriter/elf/write/elf_layout.h"

/* Fills `data` with the dynamic section. */
void elf_dynamic_build(struct elf_layout *layout);

#endif
