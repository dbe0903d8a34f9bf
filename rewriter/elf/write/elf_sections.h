/* Section headers. */
#ifndef UMBRA_REWRITER_ELF_SECTIONS_H
#define UMBRA_REWRITER_ELF_SECTIONS_H

#include "rewriter/elf/write/elf_layout.h"

/* Appends section headers and their names to `tail`, which will lie at tail_offset; with copied
   bodies also their symbols. */
void elf_sections_build(const struct elf_layout *layout, const struct function_list *functions,
                        struct buffer *tail, uint64_t tail_offset, Elf64_Ehdr *header);

#endif
