#include "image/original.h"

#include <string.h>
#include <xxhash.h>

#include "image/pe_headers.h"

struct original {
    uint8_t *bytes;
    uint64_t size;
    uint64_t room; /* first bytes that the original's may be among */
    const struct loaded_ranges *ranges;
    const struct manifest *manifest;
};

static const struct original_result whole = {ORIGINAL_WHOLE, 0};

uint64_t original_bytes_needed(const struct loaded_ranges *ranges, const struct manifest *manifest,
                               uint64_t file_size)
{
    uint64_t size = manifest->head->original_size, more = ranges->is_pe ? ORIGINAL_GROWTH_LIMIT : 0;

    return size <= file_size && more < file_size - size ? size + more : file_size;
}

/* A place of the original's, or null. */
static uint8_t *at(const struct original *original, uint64_t offset, uint64_t size)
{
    return offset <= original->room && size <= original->room - offset ? original->bytes + offset
                                                                       : NULL;
}

static struct original_result put_functions_back(const struct original *original)
{
    for (uint32_t i = 0; i < original->manifest->function_count; i++) {
        const struct manifest_function *function = &original->manifest->functions[i];
        uint64_t offset, rva = (uint64_t)function->rva + function->patch_offset;
        uint8_t *bytes;

        if (function->state != FUNCTION_HOOKED || function->patch_size == 0)
            continue;
        if (!loaded_ranges_find(original->ranges, rva, function->patch_size, &offset) ||
            !(bytes = at(original, offset, function->patch_size)))
            return (struct original_result){ORIGINAL_FUNCTION_ELSEWHERE, function->rva};
        memcpy(bytes, function->original, function->patch_size);
    }
    return whole;
}

static struct original_result put_changes_back(const struct original *original)
{
    for (uint32_t i = 0; i < original->manifest->change_count; i++) {
        const struct manifest_change *change = &original->manifest->changes[i];
        uint8_t *bytes = at(original, change->file_offset, change->size);

        if (!bytes)
            return (struct original_result){ORIGINAL_CHANGE_ELSEWHERE, change->file_offset};
        memcpy(bytes, change->original, change->size);
    }
    return whole;
}

/* False in an ELF image, and where the headers are damaged. */
static bool headers_size(const struct original *original, uint64_t *size)
{
    struct bounded_file file = bounded_file_of(original->bytes, original->size);
    struct pe_headers headers;
    struct failure failure;

    if (!original->ranges->is_pe || !pe_headers_read(&headers, &file, &failure))
        return false;
    *size = headers.optional.size_of_headers;
    return true;
}

/* Takes out what the headers grew by; they are the original's again. */
static struct original_result shrink(const struct original *original, uint64_t grown)
{
    uint64_t size = original->manifest->head->original_size, offset, growth;

    if (!headers_size(original, &offset) || offset == grown)
        return whole;
    growth = grown - offset;
    if (growth > ORIGINAL_GROWTH_LIMIT || offset > size || original->size - size < growth)
        return (struct original_result){ORIGINAL_GREW, growth};
    memmove(original->bytes + offset, original->bytes + offset + growth, size - offset);
    return whole;
}

struct original_result original_restore(uint8_t *bytes, uint64_t size,
                                        const struct loaded_ranges *ranges,
                                        const struct manifest *manifest)
{
    const struct original original = {bytes, size, original_bytes_needed(ranges, manifest, size),
                                      ranges, manifest};
    uint64_t original_size = manifest->head->original_size, grown = 0;
    struct original_result result;

    if (original_size > size)
        return (struct original_result){ORIGINAL_CUT_OFF, 0};
    headers_size(&original, &grown);
    result = put_functions_back(&original);
    if (result.problem == ORIGINAL_WHOLE)
        result = put_changes_back(&original);
    if (result.problem == ORIGINAL_WHOLE)
        result = shrink(&original, grown);
    if (result.problem == ORIGINAL_WHOLE &&
        XXH3_64bits(bytes, original_size) != manifest->head->original_hash)
        result.problem = ORIGINAL_DIFFERS;
    return result;
}
