#include "grinder/original_bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "grinder/bounded_file.h"

#define NOWHERE UINT64_MAX
#define MOST_GROWTH                                                                                \
    (1u << 20) /* of a PE image's headers, in bytes: the format has no more room                   \
                */

bool original_has(const struct original_bytes *original, uint64_t offset, uint64_t count)
{
    return offset <= original->size && count <= original->size - offset;
}

/* Offset of size bytes that are loaded at rva. */
static uint64_t offset_of_rva(const struct original_bytes *original, uint64_t rva, uint64_t size)
{
    for (size_t i = 0; i < original->part_count; i++) {
        const struct original_part *part = &original->parts[i];
        uint64_t behind = rva - part->rva;
        if (rva < part->rva || behind >= part->size || size > part->size - behind)
            continue;
        return original_has(original, part->offset + behind, size) ? part->offset + behind
                                                                   : NOWHERE;
    }
    return NOWHERE;
}

bool original_undo_changes(struct original_bytes *original, const struct image_manifest *manifest)
{
    const struct manifest_change *changes =
        (const struct manifest_change *)((const char *)manifest + manifest->changes);
    uint64_t count = manifest->change_count;

    if (count && (manifest->changes > manifest->size || manifest->changes % 4 != 0 ||
                  count * sizeof(*changes) > manifest->size - manifest->changes))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const struct manifest_change *change = &changes[i];
        if (change->size > MANIFEST_CHANGE_SIZE ||
            !original_has(original, change->file_offset, change->size))
            return false;
        memcpy(original->bytes + change->file_offset, change->original, change->size);
    }
    return true;
}

bool original_undo_patches(struct original_bytes *original, const struct image *image)
{
    for (uint32_t i = 0; i < image->manifest.function_count; i++) {
        const struct manifest_function *function = &image->manifest.functions[i];
        uint64_t offset;
        if (function->state != FUNCTION_HOOKED || !function->patch_size)
            continue;
        offset = offset_of_rva(original, (uint64_t)function->rva + function->patch_offset,
                               function->patch_size);
        if (offset == NOWHERE || function->patch_size > sizeof(function->original))
            return false;
        memcpy(original->bytes + offset, function->original, function->patch_size);
    }
    return true;
}

static bool restore(struct original_bytes *original, const struct image *image)
{
    const struct image_manifest *manifest = image->manifest.bytes;
    bool is_elf = original->size >= SELFMAG && !memcmp(original->bytes, ELFMAG, SELFMAG);

    if (is_elf)
        original->size = manifest->original_size;
    if (!(is_elf ? original_elf_restore : original_pe_restore)(original, image))
        return false;
    return original->size == manifest->original_size &&
           XXH3_64bits(original->bytes, original->size) == manifest->original_hash;
}

void original_bytes_read(struct original_bytes *original, const struct image *image)
{
    uint64_t size = image->problem ? 0 : image->manifest.bytes->original_size;
    struct bounded_file file;
    const char *why;

    *original = (struct original_bytes){0};
    if (image->problem || bounded_file_open(&file, image->file, &why) < 0)
        return;
    if (size <= file.size) {
        size += file.size - size < MOST_GROWTH ? file.size - size : MOST_GROWTH;
        original->bytes = bounded_file_copy(&file, 0, size);
        original->size = size;
    }
    bounded_file_close(&file);
    if (!original->bytes || !restore(original, image))
        original_bytes_free(original);
}

void original_bytes_free(struct original_bytes *original)
{
    free(original->bytes);
    free(original->parts);
    *original = (struct original_bytes){0};
}

const uint8_t *original_bytes_at(const struct original_bytes *original, uint32_t rva, uint64_t size)
{
    uint64_t offset = original->bytes ? offset_of_rva(original, rva, size) : NOWHERE;

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
    bytes = original_bytes_at(original, function->rva, function->size);
    return function->size && bytes ? XXH3_64bits(bytes, function->size) : 0;
}
