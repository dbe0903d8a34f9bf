/*
 * Unwind information of an ELF image, `.eh_frame`: which addresses a frame description covers and
 * what holds there. Source: Linux Standard Base 5.0, "Exception Frames", and DWARF 4, 6.4.
 *
 *      CIE   length, 0, version, augmentation, factors, RA register, common instructions
 *      FDE   length, distance to its CIE, first address, size, augmentation data, instructions
 *      FDE   ...
 *      0     end
 *
 * The instructions of a FDE make rows: from an address on, the CFA (the caller's rsp after the
 * call returned) is a register plus an offset, and the return address is kept at CFA - 8.
 */
#ifndef UMBRA_REWRITER_EH_FRAME_H
#define UMBRA_REWRITER_EH_FRAME_H

#include "rewriter/elf/elf_image.h"

#define CFI_RSP       7u
#define CFI_RBP       6u
#define CFI_NO_REG    0xffffu
#define CFI_MAX_DEPTH 8 /* of DW_CFA_remember_state */

struct cfi_program {
    const uint8_t *bytes;
    size_t size;
};

struct cie {
    uint64_t offset; /* from the start of .eh_frame */
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_register;
    uint8_t pointer_encoding; /* DW_EH_PE_ */
    bool has_augmentation_data;
    bool is_signal_frame;
    struct cfi_program program;
};

struct fde {
    uint64_t address;  /* first one it covers */
    uint64_t location; /* address of the FDE itself */
    uint64_t size;
    uint32_t cie; /* index */
    struct cfi_program program;
};

struct eh_frame {
    uint64_t address; /* of .eh_frame */
    struct cie *cies;
    size_t cie_count, cie_room;
    struct fde *fdes; /* ascending by address */
    size_t fde_count, fde_room;
};

/* What cannot be understood is left out; an image without .eh_frame has no FDEs. */
void eh_frame_read(struct eh_frame *frame, const struct elf_image *image);
void eh_frame_free(struct eh_frame *frame);
/* The FDE that covers an address, or null. */
const struct fde *eh_frame_find(const struct eh_frame *frame, uint64_t address);

enum cfi_return_rule {
    CFI_RETURN_UNSAID,
    CFI_RETURN_AT_OFFSET, /* at CFA + return_offset */
    CFI_RETURN_UNDEFINED, /* outermost frame */
    CFI_RETURN_OTHER,     /* in a register, by an expression */
};

struct cfi_row {
    uint16_t cfa_register; /* CFI_NO_REG if the CFA is given by an expression or not at all */
    uint8_t return_rule;   /* enum cfi_return_rule */
    int64_t cfa_offset;
    int64_t return_offset;
};

/* Steps through the rows of a FDE: `row` holds for addresses below `next`. */
struct cfi_cursor {
    const struct cie *cie;
    struct cfi_program rest;
    uint64_t next; /* where the next row begins; UINT64_MAX in the last */
    struct cfi_row row, initial;
    struct cfi_row remembered[CFI_MAX_DEPTH];
    uint8_t depth;
    bool is_malformed; /* the row is not to be trusted from here on */
};

void cfi_begin(struct cfi_cursor *cursor, const struct eh_frame *frame, const struct fde *fde);
/* One instruction's bytes, and by how much it moves the location; 0 at the end or if malformed. */
size_t cfi_instruction(const struct cie *cie, struct cfi_program rest, uint64_t *advance);
/* Advances to the row that holds at an address, which must not be below earlier ones. */
void cfi_seek(struct cfi_cursor *cursor, uint64_t address);

#endif
