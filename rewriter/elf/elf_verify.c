#include "rewriter/elf/elf_verify.h"

#include "rewriter/elf/elf_manifest.h"

static uint8_t *at(void *image, uint64_t address, uint64_t size)
{
    return elf_at(image, address, size);
}

static bool is_executable(void *image, uint64_t address)
{
    return elf_is_executable(image, address);
}

static bool open_image(struct instrumented *instrumented, struct elf_image *image,
                       struct input_file *input, struct failure *failure)
{
    if (!elf_image_read(image, input->path, input->bytes, input->size, failure))
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
    };
    if (instrumented_read(instrumented, elf_manifest_find(&instrumented->place, image), failure))
        return true;
    elf_image_free(image);
    return false;
}

static void close_image(struct instrumented *instrumented, struct elf_image *image)
{
    manifest_free(&instrumented->manifest);
    elf_image_free(image);
}

bool elf_verify(struct input_file *input, struct verify_result *result, struct failure *failure)
{
    struct instrumented instrumented;
    struct elf_image image;
    bool is_proved;

    *result = (struct verify_result){0};
    if (!open_image(&instrumented, &image, input, failure))
        return false;
    is_proved = instrumented_verify(&instrumented, result, failure);
    close_image(&instrumented, &image);
    return is_proved;
}

bool elf_undo(struct input_file *input, struct output_file *output, struct failure *failure)
{
    struct instrumented instrumented;
    struct elf_image image;
    bool is_done;

    if (!open_image(&instrumented, &image, input, failure))
        return false;
    is_done = instrumented_undo(&instrumented, output, failure);
    close_image(&instrumented, &image);
    return is_done;
}
