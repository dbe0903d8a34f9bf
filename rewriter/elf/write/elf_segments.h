/* Program headers. */
#ifndef UMBRA_REWRITER_ELF_SEGMENTS_H
#define UMBRA_REWRITER_ELF_SEGMENTS_H

#include "rewriter/elf/write/elf_layout.h"

/* Fills in the program headers, where layout->grown has room for them. */
void elf_segments_build(const struct elf_layout *layout);

#endif
