#include "rewriter/pe/pe_verify.h"

#include "rewriter/pe/pe_checksum.h"
#include "rewriter/pe/pe_manifest.h"
#include "rewriter/pe/pe_room.h"

#include <stddef.h>
#include <string.h>

static uint8_t *at(void *image, uint64_t address, uint64_t size)
{
    return pe_at(image, address, size);
}

static bool is_executable(void *image, uint64_t address)
{
    return pe_is_executable(image, address);
}

/* The image was read while its headers were the larger ones; the bytes are the original's now. */
static uint64_t growth(void *context, uint64_t *offset)
{
    const struct pe_image *image = context;
    struct pe_optional_header original;

    memcpy(&original, image->bytes + image->optional, sizeof original);
    *offset = original.size_of_headers;
    return (uint64_t)image->header.size_of_headers - original.size_of_headers;
}

static bool open_image(struct instrumented *instrumented, struct pe_image *image,
                       struct input_file *input, struct failure *failure)
{
    if (!pe_image_read(image, input->path, input->bytes, input->size, failure))
        return false;
    *instrumented = (struct instrumented){
        .path = input->path,
        .bytes = input->bytes,
        .size = input->size,
        .base = image->base,
        .end = image->end,
        .image = image,
        .at = at,
        .is_executable = is_executable,
        .growth = growth,
        .growth_limit = PE_GROWTH_LIMIT,
    };
    if (instrumented_read(instrumented, pe_manifest_find(&instrumented->place, image), failure))
        return true;
    pe_image_free(image);
    return false;
}

static void close_image(struct instrumented *instrumented, struct pe_image *image)
{
    manifest_free(&instrumented->manifest);
    pe_image_free(image);
}

/* Makes it 0, as the seal counts it. */
static bool checksum_check(const struct pe_image *image, struct failure *failure)
{
    size_t field = image->optional + offsetof(struct pe_optional_header, checksum);
    uint32_t found = image->header.checksum, sum = 0;

    if (found == 0)
        return true;
    if (field % 2 == 0 && (sum = pe_checksum(image->bytes, image->size, field)) != found)
        return fail(failure, image->path,
                    "changed after it was written: expected checksum %#x, found %#x; instrument "
                    "it again",
                    sum, found);
    memset(image->bytes + field, 0, sizeof found);
    return true;
}

bool pe_verify(struct input_file *input, struct verify_result *result, struct failure *failure)
{
    struct instrumented instrumented;
    struct pe_image image;
    bool is_proved;

    *result = (struct verify_result){0};
    if (!open_image(&instrumented, &image, input, failure))
        return false;
    is_proved =
        checksum_check(&image, failure) && instrumented_verify(&instrumented, result, failure);
    close_image(&instrumented, &image);
    return is_proved;
}

bool pe_undo(struct input_file *input, struct output_file *output, struct failure *failure)
{
    struct instrumented instrumented;
    struct pe_image image;
    bool is_done;

    if (!open_image(&instrumented, &image, input, failure))
        return false;
    is_done = instrumented_undo(&instrumented, output, failure);
    close_image(&instrumented, &image);
    return is_done;
}
