/*
 * Unwind information of x64 Windows (UNWIND_INFO), versions 1 and 2. Drawn:
 *
 *      0    version : 3, flags : 5
 *      1    size of prologue, in bytes
 *      2    codes, as 16-bit slots
 *      3    frame register : 4, frame offset / 16 : 4
 *      4    slots: offset of the prologue's instruction's end, operation : 4, information : 4;
 *           some operations take a slot or two more for their operand. Descending by offset.
 *      ...  (an even number of slots) one of: RUNTIME_FUNCTION of what this is a part of;
 *           RVA of a handler, and its data
 */
#ifndef UMBRA_REWRITER_PE_UNWIND_INFO_H
#define UMBRA_REWRITER_PE_UNWIND_INFO_H

#include "rewriter/code/code.h"
#include "rewriter/pe/pe_image.h"

enum {
    UNWIND_EXCEPTION_HANDLER = 1,
    UNWIND_TERMINATION_HANDLER = 2,
    UNWIND_CHAINED = 4,
};

enum unwind_operation {
    UNWIND_PUSH,
    UNWIND_ALLOC_LARGE,
    UNWIND_ALLOC_SMALL,
    UNWIND_SET_FRAME,
    UNWIND_SAVE,
    UNWIND_SAVE_FAR,
    UNWIND_EPILOG, /* version 2; in version 1 never written */
    UNWIND_SPARE,
    UNWIND_SAVE_VECTOR,
    UNWIND_SAVE_VECTOR_FAR,
    UNWIND_MACHINE_FRAME,
};

#define UNWIND_HEAD_SIZE 4
#define UNWIND_SLOT_SIZE 2
#define UNWIND_RBP       5

struct unwind_info {
    uint8_t version, flags, prologue, slot_count;
    uint8_t frame_register, frame_offset; /* 0: none; in units of 16 bytes */
    const uint8_t *slots;                 /* within the image */
};

/* One code; `size` is that of its slots in bytes. */
struct unwind_code {
    uint8_t offset, operation, information, size;
    uint32_t operand; /* of allocations: bytes */
};

/* False if there is none of a known version at that RVA. */
bool unwind_info_read(struct unwind_info *info, const struct pe_image *image, uint32_t rva);

/* The code at slot *at, which moves on; false at the end, or if it makes no sense. */
bool unwind_code_next(const struct unwind_info *info, size_t *at, struct unwind_code *code);

/* Codes that are not about epilogues; *lowest is the lowest offset among them. */
size_t unwind_prologue_codes(const struct unwind_info *info, uint8_t *lowest);

/* Where the return address lies `offset` bytes from the function's start; `until` counts from
   there, too. */
struct return_slot unwind_slot_at(const struct unwind_info *info, uint64_t offset);

#endif
