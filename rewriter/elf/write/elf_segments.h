/* Program headers. */
#ifndef UMBRA_REWRITER_ELF_SEGMENTS_H
#define UMBRA_REWRITER_ELF_SEGMENTS_H

#include "rewriter/elf/write/elf_layout.h"

/* Fills in the program headers. */
void elf_segments_build(struct elf_layout *layout);

#endif
