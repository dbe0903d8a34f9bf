#include "rewriter/elf/write/elf_layout.h"

uint64_t elf_layout_offset(const struct elf_layout *layout, uint64_t address)
{
    const uint8_t *bytes = elf_at(layout->image, address, 1);

    return bytes ? (uint64_t)(bytes - layout->image->bytes) : address - layout->delta;
}
