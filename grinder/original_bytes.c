#include "grinder/original_bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "grinder/bounded_file.h"

#define NOWHERE UINT64_MAX

/* count bytes of the file lie at offset. */
static int has(const struct original_bytes *original, uint64_t offset, uint64_t count)
{
    return offset <= original->size && count <= original->size - offset;
}

/* Offset of size bytes that are loaded at rva, by the file's own program headers. */
static uint64_t offset_of_rva(const struct original_bytes *original, const struct image *image,
                              uint32_t rva, uint64_t size)
{
    uint64_t address = image->manifest.bytes->preferred_base + rva;
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    memcpy(&header, original->bytes, sizeof(header));
    if (header.e_phentsize != sizeof(segment) ||
        !has(original, header.e_phoff, (uint64_t)header.e_phnum * sizeof(segment)))
        return NOWHERE;
    for (uint64_t i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, original->bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
            address - segment.p_vaddr >= segment.p_filesz ||
            size > segment.p_filesz - (address - segment.p_vaddr))
            continue;
        address = address - segment.p_vaddr + segment.p_offset;
        return has(original, address, size) ? address : NOWHERE;
    }
    return NOWHERE;
}

static int undo_changes(struct original_bytes *original, const struct image_manifest *manifest)
{
    const struct manifest_change *changes =
        (const struct manifest_change *)((const char *)manifest + manifest->changes);
    uint64_t count = manifest->change_count;

    if (count && (manifest->changes > manifest->size || manifest->changes % 4 != 0 ||
                  count * sizeof(*changes) > manifest->size - manifest->changes))
        return -1;
    for (uint64_t i = 0; i < count; i++) {
        const struct manifest_change *change = &changes[i];
        if (change->size > MANIFEST_CHANGE_SIZE ||
            !has(original, change->file_offset, change->size))
            return -1;
        memcpy(original->bytes + change->file_offset, change->original, change->size);
    }
    return 0;
}

static int undo_patches(struct original_bytes *original, const struct image *image)
{
    for (uint32_t i = 0; i < image->manifest.function_count; i++) {
        const struct manifest_function *function = &image->manifest.functions[i];
        uint64_t offset;
        if (function->state != FUNCTION_HOOKED || !function->patch_size)
            continue;
        offset = offset_of_rva(original, image, function->rva + function->patch_offset,
                               function->patch_size);
        if (offset == NOWHERE || function->patch_size > sizeof(function->original))
            return -1;
        memcpy(original->bytes + offset, function->original, function->patch_size);
    }
    return 0;
}

void original_bytes_read(struct original_bytes *original, const struct image *image)
{
    const struct image_manifest *manifest = image->manifest.bytes;
    struct bounded_file file;
    const char *why;

    *original = (struct original_bytes){0};
    if (image->problem || bounded_file_open(&file, image->file, &why) < 0)
        return;
    if (manifest->original_size >= sizeof(Elf64_Ehdr))
        original->bytes = bounded_file_copy(&file, 0, manifest->original_size);
    bounded_file_close(&file);
    if (!original->bytes)
        return;
    original->size = manifest->original_size;
    if (undo_changes(original, manifest) < 0 || undo_patches(original, image) < 0 ||
        XXH3_64bits(original->bytes, original->size) != manifest->original_hash)
        original_bytes_free(original);
}

void original_bytes_free(struct original_bytes *original)
{
    free(original->bytes);
    *original = (struct original_bytes){0};
}

const uint8_t *original_bytes_at(const struct original_bytes *original, const struct image *image,
                                 uint32_t rva, uint64_t size)
{
    uint64_t offset = original->bytes ? offset_of_rva(original, image, rva, size) : NOWHERE;

    return offset == NOWHERE ? NULL : original->bytes + offset;
}

uint64_t original_bytes_hash(const struct original_bytes *original, const struct image *image,
                             uint32_t index)
{
    const struct manifest_function *function;
    const uint8_t *bytes;

    if (!original->bytes || index >= image->manifest.function_count)
        return 0;
    function = &image->manifest.functions[index];
    bytes = original_bytes_at(original, image, function->rva, function->size);
    return function->size && bytes ? XXH3_64bits(bytes, function->size) : 0;
}
