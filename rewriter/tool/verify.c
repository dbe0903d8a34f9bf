#include "rewriter/tool/verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "rewriter/base/rights.h"
#include "rewriter/base/say.h"
#include "rewriter/tool/image_formats.h"

/* The format refuses what is no image first. On failure there is nothing to close. */
static bool open_instrumented(struct image *image, struct instrumented *instrumented,
                              const struct input_file *input, struct failure *failure)
{
    if (!image_open(image, input, failure))
        return false;
    if (instrumented_open(instrumented, image->format->processor, input, failure))
        return true;
    image_close(image);
    return false;
}

static void close_instrumented(struct image *image, struct instrumented *instrumented)
{
    instrumented_close(instrumented);
    image_close(image);
}

bool verify_image(const struct input_file *input, struct verify_result *result,
                  struct failure *failure)
{
    struct instrumented instrumented;
    struct image image;
    bool is_proved;

    *result = (struct verify_result){0};
    if (!open_instrumented(&image, &instrumented, input, failure))
        return false;
    is_proved = (!image.format->take_back || image.format->take_back(&image, failure)) &&
                instrumented_verify(&instrumented, result, failure);
    close_instrumented(&image, &instrumented);
    return is_proved;
}

bool undo_image(const struct input_file *input, struct output_file *output, struct failure *failure)
{
    struct instrumented instrumented;
    struct image image;
    bool is_done;

    if (!open_instrumented(&image, &instrumented, input, failure))
        return false;
    is_done = instrumented_undo(&instrumented, output, failure);
    close_instrumented(&image, &instrumented);
    return is_done;
}

bool verify_file(const char *path, struct failure *failure)
{
    struct verify_result result;
    struct input_file input;
    char copied[64] = "";
    bool is_proved;

    if (!input_file_open(&input, path, failure))
        return false;
    is_proved = verify_image(&input, &result, failure);
    input_file_close(&input);
    if (!is_proved)
        return false;
    if (result.copied)
        snprintf(copied, sizeof(copied), "%zu bodies copied, ", result.copied);
    say_result("%s: verified: %zu of %zu functions hooked, %s%zu other changes; without them it is "
               "the original, %" PRIu64 " bytes, XXH3 %016" PRIx64,
               path, result.hooked, result.functions, copied, result.changes, result.original_size,
               result.original_hash);
    return true;
}

static bool write_original(const struct input_file *input, const char *path, bool overwrite,
                           struct failure *failure)
{
    struct output_file output;

    output_file_sweep(path);
    if (!output_file_begin(&output, path, overwrite, failure))
        return false;
    if (undo_image(input, &output, failure) &&
        output_file_settle(&output, &input->status, failure) &&
        output_file_commit(&output, overwrite, failure))
        return true;
    output_file_abandon(&output);
    return false;
}

bool undo_file(const char *path, const char *output, bool overwrite, struct failure *failure)
{
    struct input_file input;
    bool is_done;

    if (!input_file_open(&input, path, failure))
        return false;
    is_done = write_original(&input, output, overwrite, failure);
    if (is_done)
        rights_say_dropped(path, input.rights);
    input_file_close(&input);
    return is_done;
}
