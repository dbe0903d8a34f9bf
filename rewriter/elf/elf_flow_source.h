/* What the analysis of control flow (flow/flow.h) has to know of an ELF image. */
#ifndef UMBRA_REWRITER_ELF_FLOW_SOURCE_H
#define UMBRA_REWRITER_ELF_FLOW_SOURCE_H

#include "rewriter/elf/elf_code.h"
#include "rewriter/flow/flow.h"

struct elf_flow_source {
    struct flow_source source; /* what the analysis is given; points into the rest */
    struct flow_pointer *pointers;
    size_t pointer_room;
    uint32_t *by_target;
    uint64_t *pads;
};

/*
 * Pointers to code: of R_X86_64_RELATIVE, of R_X86_64_64 with a symbol of the image's own, of
 * DT_RELR, and symbols without a type. Of a program that is linked to a fixed address, also each
 * aligned word of data that is an address of code: nothing tells these from other numbers.
 */
void elf_flow_source_read(struct elf_flow_source *flow, const struct elf_code *elf,
                          const struct elf_image *image);
void elf_flow_source_free(struct elf_flow_source *flow);

#endif
