#ifndef UMBRA_REWRITER_ELF_DYNAMIC_H
#define UMBRA_REWRITER_ELF_DYNAMIC_H

#include "rewriter/elf/write/elf_grown.h"

/* Appends .dynamic, which leads to the tables that grew, to `data`; returns where it is. */
struct elf_span elf_dynamic_build(struct elf_new_segment *data, const struct elf_grown *grown);

#endif
