#include "rewriter/elf/elf_manifest.h"

#include <string.h>

static const Elf64_Phdr *last_load(const struct elf_image *image)
{
    const Elf64_Phdr *last = NULL;

    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_type == PT_LOAD)
            last = &image->segments[i];
    return last;
}

bool elf_manifest_read(struct manifest *manifest, const struct elf_image *image)
{
    const Elf64_Phdr *segment = last_load(image);
    struct image_header header;

    if (!segment)
        return false;
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

bool elf_is_instrumented(const struct elf_image *image)
{
    struct manifest manifest;

    if (!elf_manifest_read(&manifest, image))
        return false;
    manifest_free(&manifest);
    return true;
}
