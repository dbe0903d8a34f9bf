#include "rewriter/elf/elf_manifest.h"

#include <stdlib.h>
#include <string.h>

static bool find_in(struct manifest *manifest, const struct elf_image *image,
                    const Elf64_Phdr *segment)
{
    struct image_header header;

    for (uint64_t at = 0; at + sizeof header <= segment->p_filesz; at += sizeof header) {
        uint64_t address;
        const uint8_t *bytes;

        memcpy(&header, image->bytes + segment->p_offset + at, sizeof header);
        if (header.magic != IMAGE_MAGIC)
            continue;
        address = image->base + header.manifest_rva;
        bytes = elf_at(image, address, sizeof(struct image_manifest));
        if (bytes && manifest_read(manifest, bytes, elf_available(image, address)))
            return true;
    }
    return false;
}

bool elf_manifest_read(struct manifest *manifest, const struct elf_image *image)
{
    for (size_t i = image->segment_count; i-- > 0;) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W &&
            find_in(manifest, image, segment))
            return true;
    }
    return false;
}

bool elf_is_instrumented(const struct elf_image *image)
{
    struct manifest manifest;

    if (!elf_manifest_read(&manifest, image))
        return false;
    free(manifest.functions);
    return true;
}
