/*
 * Unwind information of an ELF image, `.eh_frame`: which addresses a frame description covers and
 * what holds there. Source: Linux Standard Base 5.0, "Exception Frames", and DWARF 4, 6.4.
 *
 *      CIE   length, 0, version, augmentation, factors, RA register, common instructions
 *      FDE   length, distance to its CIE, first address, size, augmentation data, instructions
 *      FDE   ...
 *      0     end
 *
 * The instructions of a FDE make rows: from an address on, the CFA (the caller's stack pointer after
 * the call returned) is a register plus an offset, and the return address is kept right below it.
 */
#ifndef UMBRA_REWRITER_EH_FRAME_H
#define UMBRA_REWRITER_EH_FRAME_H

#include "rewriter/elf/image/elf_image.h"

struct cfi_program {
    const uint8_t *bytes;
    size_t size;
};

struct cie {
    uint64_t offset; /* from the start of .eh_frame */
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_register;
    uint8_t pointer_encoding; /* DW_EH_PE_, as dwarf_encoding gives it; the next, too */
    uint8_t lsda_encoding;    /* DW_EH_PE_omit: its FDEs have none */
    bool has_augmentation_data;
    bool is_signal_frame;
    bool is_understood; /* all of the augmentation; what is unknown may say anything */
    struct cfi_program program;
};

struct fde {
    uint64_t address;  /* first one it covers */
    uint64_t location; /* address of the FDE itself */
    uint64_t size;
    uint64_t lsda;     /* address of its language-specific data (lsda.h); 0 if it has none */
    uint32_t cie;      /* index */
    struct cfi_program program;
};

struct eh_frame {
    uint64_t address; /* of .eh_frame */
    struct cie *cies;
    size_t cie_count, cie_room;
    struct fde *fdes; /* ascending by address */
    size_t fde_count, fde_room;
    uint64_t *lsdas; /* of all FDEs, ascending; where two FDEs have the same one, it is there twice */
    size_t lsda_count;
    bool is_incomplete; /* something was left out */
};

/* What cannot be understood is left out; an image without .eh_frame has no FDEs. */
void eh_frame_read(struct eh_frame *frame, const struct elf_image *image);
void eh_frame_free(struct eh_frame *frame);
/* The FDE that covers an address, or null. */
const struct fde *eh_frame_find(const struct eh_frame *frame, uint64_t address);

#endif
