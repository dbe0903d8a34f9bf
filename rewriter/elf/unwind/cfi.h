/* The rows that a FDE's instructions make; eh_frame.h draws what they are in. */
#ifndef UMBRA_REWRITER_CFI_H
#define UMBRA_REWRITER_CFI_H

#include "rewriter/elf/unwind/eh_frame.h"

#define CFI_NO_REG    0xffffu
#define CFI_MAX_DEPTH 8 /* of DW_CFA_remember_state */

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
