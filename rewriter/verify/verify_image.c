#include "rewriter/verify/verify_image.h"

#include <stddef.h>
#include <string.h>
#include <xxhash.h>

#include "image/original.h"
#include "rewriter/functions/function_list.h"
#include "rewriter/manifest/seal.h"
#include "rewriter/patch/stub.h"
#include "support/sorted.h"

#define INT3 0xcc

typedef unsigned long long ull;

static bool read_manifest(struct instrumented *instrumented, const struct bounded_file *file,
                          struct failure *failure)
{
    const struct manifest_place *place = &instrumented->place;

    if (!manifest_find(&instrumented->place, file, &instrumented->ranges))
        return fail(failure, instrumented->path,
                    "expected an instrumented image, found one that is not; there is nothing to "
                    "undo");
    if (manifest_read(&instrumented->manifest, file, place->offset, place->room) == MANIFEST_WHOLE)
        return true;
    return fail(failure, instrumented->path,
                "malformed manifest of version %u at byte %#llx; expected a whole one of version "
                "%u",
                place->header.version, (ull)place->offset, IMAGE_VERSION);
}

void instrumented_close(struct instrumented *instrumented)
{
    manifest_free(&instrumented->manifest);
    loaded_ranges_free(&instrumented->ranges);
}

bool instrumented_open(struct instrumented *instrumented, const struct processor *processor,
                       const struct input_file *input, struct failure *failure)
{
    struct bounded_file file = bounded_file_of(input->bytes, input->size);

    *instrumented = (struct instrumented){
        .processor = processor, .path = input->path, .bytes = input->bytes, .size = input->size};
    if (!loaded_ranges_read(&instrumented->ranges, &file))
        return fail(failure, input->path, "malformed headers");
    if (read_manifest(instrumented, &file, failure))
        return true;
    instrumented_close(instrumented);
    return false;
}

/* `size` bytes at an address, or null. */
static const uint8_t *bytes_at(const struct instrumented *instrumented, uint64_t address,
                               uint64_t size)
{
    uint64_t offset;

    return loaded_ranges_find(&instrumented->ranges, address - instrumented->ranges.base, size,
                              &offset)
               ? instrumented->bytes + offset
               : NULL;
}

static bool is_executable(const struct instrumented *instrumented, uint64_t address)
{
    const struct loaded_range *range =
        loaded_range_at(&instrumented->ranges, address - instrumented->ranges.base);

    return range && range->is_executable;
}

/* To the end of what was added; or to that of the original, where it was put elsewhere (--away). */
static bool size_check(const struct image_header *header, uint64_t size)
{
    return header->hook_rva < size &&
           (header->image_size == size ||
            (header->image_size <= header->added_rva && header->added_rva < size));
}

static bool header_check(const struct instrumented *instrumented, struct failure *failure)
{
    const struct image_header *header = &instrumented->place.header;

    if (header->version != IMAGE_VERSION || header->first_function || header->entry_hook ||
        !size_check(header, instrumented->ranges.end - instrumented->ranges.base))
        return fail(failure, instrumented->path, "malformed image header at address %#llx",
                    (ull)instrumented->ranges.base + header->header_rva);
    if (instrumented->manifest.head->preferred_base != instrumented->ranges.base)
        return fail(failure, instrumented->path, "expected base address %#llx, found %#llx",
                    (ull)instrumented->manifest.head->preferred_base,
                    (ull)instrumented->ranges.base);
    if (!manifest_string(&instrumented->manifest, instrumented->manifest.head->original_path) ||
        !manifest_string(&instrumented->manifest, instrumented->manifest.head->agent_path))
        return fail(failure, instrumented->path, "malformed manifest: a path lies outside it");
    return true;
}

/* Whether `size` bytes at `address` are a jump to `stub` and int3 behind it. */
static bool is_jump(const uint8_t *bytes, uint64_t address, uint64_t size, uint64_t stub)
{
    uint32_t distance;

    if (size < PATCH_JUMP_SIZE || bytes[0] != 0xe9)
        return false;
    memcpy(&distance, bytes + 1, sizeof(distance));
    if (distance != (uint32_t)(stub - (address + PATCH_JUMP_SIZE)))
        return false;
    for (uint64_t i = PATCH_JUMP_SIZE; i < size; i++)
        if (bytes[i] != INT3)
            return false;
    return true;
}

/* Whether there is a jump to the stub, perhaps through a hole. */
static bool jump_check(const struct instrumented *instrumented, uint64_t patch, uint64_t size,
                       uint64_t stub)
{
    const uint8_t *bytes = bytes_at(instrumented, patch, size);

    if (!bytes)
        return false;
    if (size == PATCH_SHORT_JUMP_SIZE && bytes[0] == 0xeb) {
        patch += PATCH_SHORT_JUMP_SIZE + (uint64_t)(int8_t)bytes[1];
        size = PATCH_JUMP_SIZE;
        bytes = bytes_at(instrumented, patch, size);
    }
    return bytes && is_jump(bytes, patch, size, stub);
}

static bool function_check(const struct instrumented *instrumented, uint32_t index,
                           struct failure *failure)
{
    const struct manifest_function *function = &instrumented->manifest.functions[index];
    uint64_t patch = instrumented->ranges.base + function->rva + function->patch_offset;
    uint64_t stub = instrumented->ranges.base + function->stub_rva;
    const struct stub_targets targets = {
        .header = instrumented->ranges.base + instrumented->place.header.header_rva,
        .hook = instrumented->ranges.base + instrumented->place.header.hook_rva,
    };
    const uint8_t *stub_bytes =
        bytes_at(instrumented, stub, instrumented->processor->stub_frame_size);

    if (function->patch_size && !jump_check(instrumented, patch, function->patch_size, stub))
        return fail(failure, instrumented->path,
                    "expected a jump to a stub at address %#llx, found something else", (ull)patch);
    if (!stub_bytes || !is_executable(instrumented, stub) ||
        !stub_is_frame(instrumented->processor, stub_bytes, stub, &targets, index))
        return fail(failure, instrumented->path,
                    "expected a stub for the function at %#llx at address %#llx, found none",
                    (ull)instrumented->ranges.base + function->rva, (ull)stub);
    return true;
}

static bool functions_check(const struct instrumented *instrumented, struct verify_result *result,
                            struct failure *failure)
{
    const struct manifest *manifest = &instrumented->manifest;

    for (uint32_t i = 0; i < manifest->function_count; i++) {
        const struct manifest_function *function = &manifest->functions[i];

        if (i && function->rva <= function[-1].rva)
            return fail(failure, instrumented->path,
                        "malformed manifest: expected functions by rising address, found %#llx",
                        (ull)instrumented->ranges.base + function->rva);
        if (function->state != FUNCTION_HOOKED)
            continue;
        if (!function_check(instrumented, i, failure))
            return false;
        result->hooked++;
    }
    result->functions = manifest->function_count;
    return true;
}

static bool copies_check(const struct instrumented *instrumented, struct verify_result *result,
                         struct failure *failure)
{
    const struct manifest *manifest = &instrumented->manifest;

    for (uint32_t i = 0; i < manifest->copy_count; i++) {
        const struct manifest_copy *copy = &manifest->copies[i];
        uint64_t address = instrumented->ranges.base + copy->rva;
        const uint8_t *bytes = bytes_at(instrumented, address, copy->size);

        if (!bytes || !is_executable(instrumented, address) ||
            (uint64_t)(bytes - instrumented->bytes) < manifest->head->original_size)
            return fail(failure, instrumented->path,
                        "expected the copy of the function at %#llx at address %#llx, found none",
                        (ull)instrumented->ranges.base + manifest->functions[copy->function].rva,
                        (ull)address);
    }
    result->copied = manifest->copy_count;
    return true;
}

/* Names the first differing byte if the original can still be read, and is the original. */
static bool tell_difference(const struct instrumented *instrumented, const char *path,
                            struct failure *failure)
{
    const struct image_manifest *head = instrumented->manifest.head;
    uint64_t size = head->original_size, at = 0;
    struct input_file original;
    struct failure ignored;

    if (path && input_file_open(&original, path, &ignored)) {
        if (original.size == size && XXH3_64bits(original.bytes, size) == head->original_hash)
            while (at < size && original.bytes[at] == instrumented->bytes[at])
                at++;
        else
            at = size;
        if (at < size)
            fail(failure, instrumented->path,
                 "changed after it was written: byte %#llx is not that of the original, %s; "
                 "instrument it again",
                 (ull)at, path);
        input_file_close(&original);
        if (at < size)
            return false;
    }
    return fail(failure, instrumented->path,
                "changed after it was written: its first %llu bytes do not give back the original "
                "(XXH3 %016llx), which is not there to tell where; instrument it again",
                (ull)size, (ull)head->original_hash);
}

/* Makes the image's first bytes the original; false, with the reason, if they do not become it. */
static bool restore(struct instrumented *instrumented, struct failure *failure)
{
    const struct image_manifest *head = instrumented->manifest.head;
    struct original_result result = original_restore(
        instrumented->bytes, instrumented->size, &instrumented->ranges, &instrumented->manifest);

    switch (result.problem) {
    case ORIGINAL_WHOLE:
        return true;
    case ORIGINAL_CUT_OFF:
        return fail(failure, instrumented->path,
                    "truncated: its original has %llu bytes, the file has %zu",
                    (ull)head->original_size, instrumented->size);
    case ORIGINAL_FUNCTION_ELSEWHERE:
        return fail(failure, instrumented->path,
                    "expected the function at %#llx within the original, found it elsewhere",
                    (ull)(instrumented->ranges.base + result.where));
    case ORIGINAL_CHANGE_ELSEWHERE:
        return fail(failure, instrumented->path,
                    "expected the change at byte %#llx within the original, found it elsewhere",
                    (ull)result.where);
    case ORIGINAL_GREW:
        return fail(failure, instrumented->path,
                    "changed after it was written: its headers grew by %llu bytes",
                    (ull)result.where);
    case ORIGINAL_DIFFERS:
        break;
    }
    return tell_difference(instrumented,
                           manifest_string(&instrumented->manifest, head->original_path), failure);
}

static bool seal_check(const struct instrumented *instrumented, uint64_t seal,
                       struct failure *failure)
{
    if (seal == instrumented->manifest.head->seal)
        return true;
    return fail(failure, instrumented->path,
                "changed after it was written: the original is there, but something differs in "
                "what was added from byte %#llx on or put in a changed place; instrument it again",
                (ull)instrumented->manifest.head->original_size);
}

bool instrumented_verify(struct instrumented *instrumented, struct verify_result *result,
                         struct failure *failure)
{
    const struct image_manifest *head = instrumented->manifest.head;
    uint64_t field = instrumented->place.offset + offsetof(struct image_manifest, seal);
    uint64_t seal = seal_of(instrumented->bytes, instrumented->size, field);

    *result = (struct verify_result){.changes = head->change_count,
                                     .original_size = head->original_size,
                                     .original_hash = head->original_hash};
    return header_check(instrumented, failure) && functions_check(instrumented, result, failure) &&
           copies_check(instrumented, result, failure) && restore(instrumented, failure) &&
           seal_check(instrumented, seal, failure);
}

bool instrumented_undo(struct instrumented *instrumented, struct output_file *output,
                       struct failure *failure)
{
    return restore(instrumented, failure) &&
           output_file_write(output, 0, instrumented->bytes,
                             instrumented->manifest.head->original_size, failure);
}
