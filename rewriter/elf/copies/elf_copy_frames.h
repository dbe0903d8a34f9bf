/*
 * Unwind information for copied bodies. Where the original has a frame description, the copy gets
 * one of its own, with the CIE of the original where it is, and so do the slow paths of its calls, behind all copies:
 *
 *      original                            copy
 *
 *      CIE  zPLR  <--------------------------+
 *      FDE  f ... f + size                   FDE  copy of f ... its end
 *           LSDA  ----> call sites                LSDA  ----> call sites of the copy
 *           at 1: offset 16                       at 1: offset 16
 *           at 4: register rbp                    at 4: register rbp
 *           at 40: register rsp                   at 97: register rsp
 *
 * Rows begin where their instructions went; what stands in front of a call or a jump belongs to it,
 * as the stack pointer is there what it is at the instruction. So do slow paths. A call
 * site's range goes from its first instruction to the one behind its last. The types of an LSDA
 * stay where they are: the distance to them is negative, in an unsigned number that wraps around in
 * every reader, as they add it to a pointer.
 */
#ifndef UMBRA_REWRITER_ELF_COPY_FRAMES_H
#define UMBRA_REWRITER_ELF_COPY_FRAMES_H

#include "rewriter/base/buffer.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/copies/elf_copy_piece.h"

/* An entry of the index: the first address that a frame description covers, and its own. */
struct elf_frame_entry {
    uint64_t address, location;
};

/* What the copies get. Only the first three are to be set; elf_copy_frames_free ends it. */
struct elf_copy_frames {
    const struct elf_code *elf;
    const struct elf_image *image;
    const struct copy_set *copies;
    struct elf_copy_frame {
        struct elf_copy_piece piece; /* of the original */
        const struct copy *copy;
        uint64_t address, end; /* of the copy, as far as the piece goes */
        uint64_t lsda;         /* address of the copy's own; 0 if it has none */
        size_t rows, rows_size; /* its instructions in .eh_frame: an offset in the buffer */
    } * items;                 /* ascending by address */
    size_t count, room;
};

/*
 * Appends the LSDAs of the copies to a buffer that will lie at `address`. False if one cannot be
 * carried over, which elf_copy_frames_can (elf_copy_frames_can.h) has said.
 */
bool elf_copy_frames_append_lsdas(struct elf_copy_frames *frames, struct buffer *to,
                                  uint64_t address);
/* Appends the FDEs of the copies within .eh_frame, once their LSDAs are appended; fills in an index entry for each
   of `items`. */
void elf_copy_frames_append(struct elf_copy_frames *frames, struct buffer *to, uint64_t address,
                            struct elf_frame_entry *entries);
void elf_copy_frames_free(struct elf_copy_frames *frames);

#endif
