#include "rewriter/elf/elf_verify.h"

#include "rewriter/elf/elf_manifest.h"
#include "rewriter/elf/elf_original.h"
#include "rewriter/seal.h"
#include "rewriter/stub.h"
#include "rewriter/stub_check.h"

#include <stddef.h>
#include <string.h>

typedef unsigned long long ull;

/* An instrumented image, opened. */
struct verified {
    struct elf_image image;
    struct manifest manifest;
    struct elf_manifest_place place;
    const char *original_path; /* within image.bytes; null if the manifest names none */
};

static const char *string_at(const struct verified *verified, uint32_t offset)
{
    uint32_t size = verified->manifest.head.size;
    struct elf_table strings = {verified->place.bytes, size};

    return elf_string(strings, offset);
}

static bool verified_open(struct verified *verified, struct input_file *input,
                          struct failure *failure)
{
    if (!elf_image_read(&verified->image, input->path, input->bytes, input->size, failure))
        return false;
    if (!elf_manifest_find(&verified->place, &verified->image)) {
        fail(failure, input->path,
             "expected an instrumented image, found one that is not; there is nothing to undo");
        goto err;
    }
    if (!manifest_read(&verified->manifest, verified->place.bytes, verified->place.room)) {
        fail(failure, input->path,
             "malformed manifest of version %u at byte %#llx; expected a whole one of version %u",
             verified->place.header.version, (ull)(verified->place.bytes - verified->image.bytes),
             IMAGE_VERSION);
        goto err;
    }
    verified->original_path = string_at(verified, verified->manifest.head.original_path);
    return true;

err:
    elf_image_free(&verified->image);
    return false;
}

static void verified_close(struct verified *verified)
{
    manifest_free(&verified->manifest);
    elf_image_free(&verified->image);
}

static bool header_check(const struct verified *verified, struct failure *failure)
{
    const struct image_header *header = &verified->place.header;
    const struct elf_image *image = &verified->image;

    if (header->version != IMAGE_VERSION || header->first_function ||
        (header->entry_hook && !elf_image_is_static(image)) ||
        header->image_size != image->end - image->base)
        return fail(failure, image->path, "malformed image header at address %#llx",
                    (ull)image->base + header->header_rva);
    if (verified->manifest.head.preferred_base != image->base)
        return fail(failure, image->path, "expected base address %#llx, found %#llx",
                    (ull)verified->manifest.head.preferred_base, (ull)image->base);
    if (!verified->original_path || !string_at(verified, verified->manifest.head.agent_path))
        return fail(failure, image->path, "malformed manifest: a path lies outside it");
    return true;
}

/* Whether there is a jump to the stub, perhaps through a hole. */
static bool jump_check(const struct elf_image *image, uint64_t patch, uint64_t size, uint64_t stub)
{
    const uint8_t *bytes = elf_at(image, patch, size);

    if (!bytes)
        return false;
    if (size == PATCH_SHORT_JUMP_SIZE && bytes[0] == 0xeb) {
        patch += PATCH_SHORT_JUMP_SIZE + (uint64_t)(int8_t)bytes[1];
        size = PATCH_JUMP_SIZE;
        bytes = elf_at(image, patch, size);
    }
    return bytes && stub_jump_check(bytes, patch, size, stub);
}

static bool function_check(const struct verified *verified, uint32_t index, struct failure *failure)
{
    const struct elf_image *image = &verified->image;
    const struct manifest_function *function = &verified->manifest.functions[index];
    uint64_t patch = image->base + function->rva + function->patch_offset;
    uint64_t stub = image->base + function->stub_rva;
    uint64_t header = image->base + verified->place.header.header_rva;
    const uint8_t *stub_bytes = elf_at(image, stub, STUB_FRAME_SIZE);

    if (function->patch_size && !jump_check(image, patch, function->patch_size, stub))
        return fail(failure, image->path,
                    "expected a jump to a stub at address %#llx, found something else", (ull)patch);
    if (!stub_bytes || !elf_is_executable(image, stub) ||
        !stub_frame_check(stub_bytes, stub, header, index))
        return fail(failure, image->path,
                    "expected a stub for the function at %#llx at address %#llx, found none",
                    (ull)image->base + function->rva, (ull)stub);
    return true;
}

static bool functions_check(const struct verified *verified, struct verify_result *result,
                            struct failure *failure)
{
    const struct manifest *manifest = &verified->manifest;

    for (uint32_t i = 0; i < manifest->head.function_count; i++) {
        const struct manifest_function *function = &manifest->functions[i];

        if (i && function->rva <= function[-1].rva)
            return fail(failure, verified->image.path,
                        "malformed manifest: expected functions by rising address, found %#llx",
                        (ull)verified->image.base + function->rva);
        if (function->state != FUNCTION_HOOKED)
            continue;
        if (!function_check(verified, i, failure))
            return false;
        result->hooked++;
    }
    result->functions = manifest->head.function_count;
    return true;
}

static bool seal_check(const struct verified *verified, uint64_t seal, struct failure *failure)
{
    if (seal == verified->manifest.head.seal)
        return true;
    return fail(failure, verified->image.path,
                "changed after it was written: the original is there, but something differs in "
                "what was added from byte %#llx on or put in a changed place; instrument it again",
                (ull)verified->manifest.head.original_size);
}

bool elf_verify(struct input_file *input, struct verify_result *result, struct failure *failure)
{
    struct verified verified;
    uint64_t seal, field;
    bool is_proved;

    *result = (struct verify_result){0};
    if (!verified_open(&verified, input, failure))
        return false;
    field = (uint64_t)(verified.place.bytes - input->bytes) + offsetof(struct image_manifest, seal);
    seal = seal_of(input->bytes, input->size, field);
    is_proved = header_check(&verified, failure) && functions_check(&verified, result, failure) &&
                elf_original_restore(&verified.image, &verified.manifest, verified.original_path,
                                     failure) &&
                seal_check(&verified, seal, failure);
    result->changes = verified.manifest.head.change_count;
    result->original_size = verified.manifest.head.original_size;
    result->original_hash = verified.manifest.head.original_hash;
    verified_close(&verified);
    return is_proved;
}

bool elf_undo(struct input_file *input, struct output_file *output, struct failure *failure)
{
    struct verified verified;
    bool is_done;

    if (!verified_open(&verified, input, failure))
        return false;
    is_done =
        elf_original_restore(&verified.image, &verified.manifest, verified.original_path,
                             failure) &&
        output_file_write(output, 0, input->bytes, verified.manifest.head.original_size, failure);
    verified_close(&verified);
    return is_done;
}
