#include "rewriter/elf/elf_original.h"

#include "rewriter/input_file.h"

#include <string.h>

#include <xxhash.h>

typedef unsigned long long ull;

/* A place of the original's, or null. */
static uint8_t *original_at(const struct elf_image *image, const struct manifest *manifest,
                            uint64_t offset, uint64_t size)
{
    uint64_t end = manifest->head.original_size;

    return offset <= end && size <= end - offset ? image->bytes + offset : NULL;
}

static bool restore_function(const struct elf_image *image, const struct manifest *manifest,
                             const struct manifest_function *function)
{
    uint64_t address = image->base + function->rva + function->patch_offset;
    uint8_t *bytes = elf_at(image, address, function->patch_size);

    if (bytes)
        bytes =
            original_at(image, manifest, (uint64_t)(bytes - image->bytes), function->patch_size);
    if (bytes)
        memcpy(bytes, function->original, function->patch_size);
    return bytes;
}

static bool restore_all(const struct elf_image *image, const struct manifest *manifest,
                        struct failure *failure)
{
    for (uint32_t i = 0; i < manifest->head.function_count; i++)
        if (manifest->functions[i].state == FUNCTION_HOOKED &&
            !restore_function(image, manifest, &manifest->functions[i]))
            return fail(failure, image->path,
                        "expected the function at %#llx within the original, found it elsewhere",
                        (ull)image->base + manifest->functions[i].rva);
    for (uint32_t i = 0; i < manifest->head.change_count; i++) {
        const struct manifest_change *change = &manifest->changes[i];
        uint8_t *bytes = original_at(image, manifest, change->file_offset, change->size);

        if (!bytes)
            return fail(failure, image->path,
                        "expected the change at byte %#llx within the original, found it elsewhere",
                        (ull)change->file_offset);
        memcpy(bytes, change->original, change->size);
    }
    return true;
}

/* Names the first differing byte if the original can still be read, and is the original. */
static bool tell_difference(const struct elf_image *image, const struct manifest *manifest,
                            const char *path, struct failure *failure)
{
    struct input_file original;
    struct failure ignored;
    uint64_t size = manifest->head.original_size, at = 0;

    if (path && input_file_open(&original, path, &ignored)) {
        if (original.size == size &&
            XXH3_64bits(original.bytes, size) == manifest->head.original_hash)
            while (at < size && original.bytes[at] == image->bytes[at])
                at++;
        else
            at = size;
        if (at < size)
            fail(failure, image->path,
                 "changed after it was written: byte %#llx is not that of the original, %s; "
                 "instrument it again",
                 (ull)at, path);
        input_file_close(&original);
        if (at < size)
            return false;
    }
    return fail(failure, image->path,
                "changed after it was written: its first %llu bytes do not give back the original "
                "(XXH3 %016llx), which is not there to tell where; instrument it again",
                (ull)size, (ull)manifest->head.original_hash);
}

bool elf_original_restore(const struct elf_image *image, const struct manifest *manifest,
                          const char *path_of_original, struct failure *failure)
{
    uint64_t size = manifest->head.original_size;

    if (size > image->size)
        return fail(failure, image->path,
                    "truncated: its original has %llu bytes, the file has %zu", (ull)size,
                    image->size);
    if (!restore_all(image, manifest, failure))
        return false;
    if (XXH3_64bits(image->bytes, size) == manifest->head.original_hash)
        return true;
    return tell_difference(image, manifest, path_of_original, failure);
}
