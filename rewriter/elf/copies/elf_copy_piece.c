#include "rewriter/elf/copies/elf_copy_piece.h"

#include "support/sorted.h"

static uint64_t lower(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

bool elf_copy_piece_from(const struct eh_frame *frame, const struct function *function,
                         uint64_t address, struct elf_copy_piece *piece)
{
    size_t behind = partition_point(i, frame->fde_count, frame->fdes[i].address <= address);
    const struct fde *fde = behind ? &frame->fdes[behind - 1] : NULL;
    uint64_t next = behind < frame->fde_count ? frame->fdes[behind].address : UINT64_MAX;

    if (address >= function->end)
        return false;
    if (!fde || address - fde->address >= fde->size)
        return next < function->end && elf_copy_piece_from(frame, function, next, piece);
    *piece = (struct elf_copy_piece){fde, address, lower(function->end, fde->address + fde->size)};
    piece->end = lower(piece->end, next);
    return true;
}
