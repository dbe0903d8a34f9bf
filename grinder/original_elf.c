#include "grinder/original_bytes.h"

#include <elf.h>
#include <string.h>

#include "grinder/memory.h"

/* By the original's own program headers, which the changes have put back. */
static bool read_segments(struct original_bytes *original, uint64_t base)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    if (!original_has(original, 0, sizeof(header)))
        return false;
    memcpy(&header, original->bytes, sizeof(header));
    if (header.e_phentsize != sizeof(segment) ||
        !original_has(original, header.e_phoff, (uint64_t)header.e_phnum * sizeof(segment)))
        return false;
    original->parts = memory_zeroed(header.e_phnum + 1u, sizeof(*original->parts));
    for (uint64_t i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, original->bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type == PT_LOAD)
            original->parts[original->part_count++] =
                (struct original_part){segment.p_vaddr - base, segment.p_offset, segment.p_filesz};
    }
    return true;
}

bool original_elf_restore(struct original_bytes *original, const struct image *image)
{
    const struct image_manifest *manifest = image->manifest.bytes;

    return original_undo_changes(original, manifest) &&
           read_segments(original, manifest->preferred_base) &&
           original_undo_patches(original, image);
}
