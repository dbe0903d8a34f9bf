#include "rewriter/elf/write/elf_layout.h"

#include "trace/image_manifest.h"

uint64_t elf_layout_header(const struct elf_layout *layout)
{
    return layout->data_address + layout->image_header;
}

uint64_t elf_layout_hook_page(const struct elf_layout *layout)
{
    uint64_t end = elf_layout_header(layout) + sizeof(struct image_header);

    return (end + ELF_PAGE - 1) / ELF_PAGE * ELF_PAGE;
}

uint64_t elf_layout_hook(const struct elf_layout *layout)
{
    return elf_layout_hook_page(layout) + IMAGE_HOOK_IN_PAGE;
}

size_t elf_layout_new_segments(const struct elf_layout *layout)
{
    return ELF_NEW_SEGMENTS +
           (layout->embedding ? elf_embedding_segments(layout->embedding, layout->image) : 0);
}

uint64_t elf_layout_offset(const struct elf_layout *layout, uint64_t address)
{
    const uint8_t *bytes = elf_at(layout->image, address, 1);

    return bytes ? (uint64_t)(bytes - layout->image->bytes) : address - layout->delta;
}
