#include "rewriter/elf/copies/elf_copy_debug.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/unwind/dwarf_write.h"
#include "support/memory.h"

#define CIE_ID      UINT32_MAX
#define CIE_VERSION 1
#define ONE_BYTE    64 /* numbers above -1 - this, and below it, are one byte of a sleb */

/* An entry begins: where its length is to be. */
static size_t entry_begin(struct buffer *to)
{
    return buffer_append_zeros(to, sizeof(uint32_t));
}

static void entry_end(struct buffer *to, size_t start)
{
    uint32_t size;

    buffer_align(to, 8, 0);
    size = (uint32_t)(to->size - start - sizeof(size));
    memcpy(to->bytes + start, &size, sizeof(size));
}

static void cie_append(struct buffer *to, const struct cie *cie)
{
    size_t start = entry_begin(to);

    dwarf_put32(to, CIE_ID);
    dwarf_put8(to, CIE_VERSION);
    dwarf_put8(to, 0); /* no augmentation */
    dwarf_put_uleb(to, cie->code_factor);
    dwarf_put8(to, (uint8_t)cie->data_factor & 0x7f);
    dwarf_put8(to, (uint8_t)cie->return_register);
    buffer_append(to, cie->program.bytes, cie->program.size);
    entry_end(to, start);
}

static void frame_append(struct buffer *to, const struct elf_copy_frame *frame, const uint8_t *rows,
                         uint32_t cie)
{
    uint64_t size = frame->end - frame->address;
    size_t start = entry_begin(to);

    dwarf_put32(to, cie);
    buffer_append(to, &frame->address, sizeof(frame->address));
    buffer_append(to, &size, sizeof(size));
    buffer_append(to, rows, frame->rows_size);
    entry_end(to, start);
}

void elf_copy_debug_frames(const struct elf_copy_frames *frames, const struct buffer *from,
                           struct buffer *to)
{
    const struct eh_frame *original = &frames->elf->frame;
    uint32_t *places = memory_zeroed(original->cie_count + 1, sizeof(*places)); /* 1 + offset */

    for (size_t i = 0; i < frames->count; i++) {
        const struct elf_copy_frame *frame = &frames->items[i];
        uint32_t index = frame->piece.fde->cie;
        const struct cie *cie = &original->cies[index];

        if (cie->data_factor < -ONE_BYTE || cie->data_factor >= ONE_BYTE)
            continue;
        if (!places[index]) {
            places[index] = (uint32_t)to->size + 1;
            cie_append(to, cie);
        }
        frame_append(to, frame, from->bytes + frame->rows, places[index] - 1);
    }
    free(places);
}
