#include "rewriter/verify_image.h"

#include <string.h>

#include <xxhash.h>

typedef unsigned long long ull;

/* A place of the original's, or null. */
static uint8_t *original_at(const struct instrumented *image, uint64_t offset, uint64_t size)
{
    uint64_t end = image->manifest.head.original_size + image->growth_limit;

    if (end > image->size)
        end = image->size;
    return offset <= end && size <= end - offset ? image->bytes + offset : NULL;
}

static bool restore_function(const struct instrumented *image,
                             const struct manifest_function *function)
{
    uint64_t address = image->base + function->rva + function->patch_offset;
    uint8_t *bytes;

    if (function->patch_size == 0) /* an import */
        return true;
    bytes = image->at(image->image, address, function->patch_size);
    if (bytes)
        bytes = original_at(image, (uint64_t)(bytes - image->bytes), function->patch_size);
    if (bytes)
        memcpy(bytes, function->original, function->patch_size);
    return bytes;
}

static bool restore_all(const struct instrumented *image, struct failure *failure)
{
    const struct manifest *manifest = &image->manifest;

    for (uint32_t i = 0; i < manifest->head.function_count; i++)
        if (manifest->functions[i].state == FUNCTION_HOOKED &&
            !restore_function(image, &manifest->functions[i]))
            return fail(failure, image->path,
                        "expected the function at %#llx within the original, found it elsewhere",
                        (ull)image->base + manifest->functions[i].rva);
    for (uint32_t i = 0; i < manifest->head.change_count; i++) {
        const struct manifest_change *change = &manifest->changes[i];
        uint8_t *bytes = original_at(image, change->file_offset, change->size);

        if (!bytes)
            return fail(failure, image->path,
                        "expected the change at byte %#llx within the original, found it elsewhere",
                        (ull)change->file_offset);
        memcpy(bytes, change->original, change->size);
    }
    return true;
}

/* Takes out what the headers grew by. */
static bool shrink(const struct instrumented *image, struct failure *failure)
{
    uint64_t offset = 0, growth = image->growth ? image->growth(image->image, &offset) : 0;
    uint64_t size = image->manifest.head.original_size;

    if (growth == 0)
        return true;
    if (growth > image->growth_limit || offset > size || image->size - size < growth)
        return fail(failure, image->path,
                    "changed after it was written: its headers grew by %llu bytes", (ull)growth);
    memmove(image->bytes + offset, image->bytes + offset + growth, size - offset);
    return true;
}

/* Names the first differing byte if the original can still be read, and is the original. */
static bool tell_difference(const struct instrumented *image, const char *path,
                            struct failure *failure)
{
    const struct image_manifest *head = &image->manifest.head;
    uint64_t size = head->original_size, at = 0;
    struct input_file original;
    struct failure ignored;

    if (path && input_file_open(&original, path, &ignored)) {
        if (original.size == size && XXH3_64bits(original.bytes, size) == head->original_hash)
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
                (ull)size, (ull)head->original_hash);
}

bool original_restore(struct instrumented *image, struct failure *failure)
{
    uint64_t size = image->manifest.head.original_size;

    if (size > image->size)
        return fail(failure, image->path,
                    "truncated: its original has %llu bytes, the file has %zu", (ull)size,
                    image->size);
    if (!restore_all(image, failure) || !shrink(image, failure))
        return false;
    if (XXH3_64bits(image->bytes, size) == image->manifest.head.original_hash)
        return true;
    return tell_difference(
        image, manifest_string(&image->manifest, image->manifest.head.original_path), failure);
}
