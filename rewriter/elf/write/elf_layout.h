/* An instrumented image of which all is built but the headers that describe it: elf_writer.h. */
#ifndef UMBRA_REWRITER_ELF_LAYOUT_H
#define UMBRA_REWRITER_ELF_LAYOUT_H

#include "rewriter/elf/write/elf_embedding.h"
#include "rewriter/elf/write/elf_grown.h"
#include "rewriter/elf/write/elf_new_segments.h"
#include "rewriter/elf/write/elf_unwind.h"

/* Each member is what a stage made, and each stage is given those before it that it needs. */
struct elf_layout {
    const struct elf_image *image;
    struct elf_exports exports;
    struct elf_growth growth;
    uint64_t delta; /* of each new segment: address - offset in the file */
    struct elf_stubs stubs;
    struct elf_new_segment constant; /* R: what grew, unwind information, manifest */
    struct elf_grown grown;
    struct elf_unwind unwind;
    struct elf_span manifest;
    struct elf_data data;
    const struct elf_embedding *embedding; /* null: the dynamic linker loads the agent */
};

/* Offset in the file of an address of the original's or of a new segment's. */
uint64_t elf_layout_offset(const struct elf_layout *layout, uint64_t address);

#endif
