#include "rewriter/verify.h"

#include "rewriter/image_format.h"
#include "rewriter/say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool verify_file(const char *path, struct failure *failure)
{
    struct verify_result result;
    struct input_file input;
    bool is_proved;

    if (!input_file_open(&input, path, failure))
        return false;
    is_proved = image_format_of(input.bytes, input.size)->verify(&input, &result, failure);
    input_file_close(&input);
    if (!is_proved)
        return false;
    say_result("%s: verified: %zu of %zu functions hooked, %zu other changes; without them it is "
               "the original, %" PRIu64 " bytes, XXH3 %016" PRIx64,
               path, result.hooked, result.functions, result.changes, result.original_size,
               result.original_hash);
    if (fflush(stdout) != 0)
        return fail(failure, path, "cannot print that it is verified: %s", strerror(errno));
    return true;
}

bool undo_file(const char *path, const char *output_path, bool overwrite, struct failure *failure)
{
    struct output_file output;
    struct input_file input;
    bool is_done = false;

    if (!input_file_open(&input, path, failure))
        return false;
    if (!output_file_begin(&output, output_path, overwrite, failure))
        goto err;
    is_done = image_format_of(input.bytes, input.size)->undo(&input, &output, failure) &&
              output_file_settle(&output, &input.status, failure) &&
              output_file_commit(&output, overwrite, failure);
    if (!is_done)
        output_file_abandon(&output);

err:
    input_file_close(&input);
    return is_done;
}
