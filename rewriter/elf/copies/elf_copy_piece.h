/* Which frame descriptions cover a function: usually one, all of it. */
#ifndef UMBRA_REWRITER_ELF_COPY_PIECE_H
#define UMBRA_REWRITER_ELF_COPY_PIECE_H

#include "rewriter/elf/unwind/eh_frame.h"
#include "rewriter/functions/function_list.h"

/* Addresses of a function, from start to end, that one FDE covers. */
struct elf_copy_piece {
    const struct fde *fde;
    uint64_t start, end;
};

/* The piece of a function at or above an address; false if there is none. The next one is at or
   above its end. */
bool elf_copy_piece_from(const struct eh_frame *frame, const struct function *function,
                         uint64_t address, struct elf_copy_piece *piece);

#endif
