/* Numbers as DWARF writes them, and what else .eh_frame is made of; dwarf_data.h reads it. */
#ifndef UMBRA_REWRITER_DWARF_WRITE_H
#define UMBRA_REWRITER_DWARF_WRITE_H

#include "rewriter/base/buffer.h"
#include "rewriter/elf/unwind/dwarf_data.h"

void dwarf_put8(struct buffer *to, uint8_t value);
void dwarf_put32(struct buffer *to, uint64_t value);
void dwarf_put_uleb(struct buffer *to, uint64_t value);

/* Bytes of a pointer with that encoding, an absolute one or DW_EH_PE_pcrel; 0 if it cannot be
   written. */
size_t dwarf_pointer_size(uint8_t encoding);
/* A pointer that will lie at `here`. Its encoding has a size. */
void dwarf_put_pointer(struct buffer *to, uint8_t encoding, uint64_t value, uint64_t here);

/* DW_CFA_advance_loc, as short as it gets; nothing for 0. */
void dwarf_put_advance(struct buffer *to, uint64_t distance);

#endif
