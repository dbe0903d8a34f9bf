#include "rewriter/elf/elf_manifest.h"

#include <string.h>

/* The first header is the only one: what is behind it is not worth a second look. */
static bool find_in(struct manifest_place *place, const struct elf_image *image,
                    const Elf64_Phdr *segment)
{
    struct image_header *header = &place->header;

    for (uint64_t at = 0; at + sizeof *header <= segment->p_filesz; at += sizeof *header) {
        uint64_t address;

        memcpy(header, image->bytes + segment->p_offset + at, sizeof *header);
        if (header->magic != IMAGE_MAGIC ||
            image->base + header->header_rva != segment->p_vaddr + at)
            continue;
        address = image->base + header->manifest_rva;
        place->room = elf_available(image, address);
        place->bytes = elf_at(image, address, sizeof(struct image_manifest));
        return place->bytes;
    }
    return false;
}

bool elf_manifest_find(struct manifest_place *place, const struct elf_image *image)
{
    for (size_t i = image->segment_count; i-- > 0;) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W && find_in(place, image, segment))
            return true;
    }
    return false;
}

bool elf_manifest_read(struct manifest *manifest, const struct elf_image *image)
{
    struct manifest_place place;

    return elf_manifest_find(&place, image) && manifest_read(manifest, place.bytes, place.room);
}

bool elf_is_instrumented(const struct elf_image *image)
{
    struct manifest_place place;

    return elf_manifest_find(&place, image);
}
