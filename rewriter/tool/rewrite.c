#include "rewriter/tool/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "rewriter/base/rights.h"
#include "rewriter/base/say.h"
#include "rewriter/tool/agent.h"
#include "rewriter/tool/analysis.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/refusal.h"

static struct rewrite_result count(const struct image *image, const struct copy_plan *copies)
{
    const struct image_format *format = image->format;
    struct rewrite_result result = {
        .found = image->functions->count,
        .lost_signature = format->has_signature && format->has_signature(image),
    };

    for (size_t i = 0; i < image->functions->count; i++) {
        bool is_hooked = patch_reason_is_hooked(image->functions->items[i].reason);

        result.hooked += is_hooked;
        result.copied += is_hooked && copy_plan_has(copies, i);
        result.unsafe += patch_reason_is_unsafe(image->functions->items[i].reason);
    }
    return result;
}

static bool write_image(struct image *image, const char *original, struct image_source *source,
                        struct output_file *output, struct judge_expectation *expected,
                        struct failure *failure)
{
    const char *path = image->input->path;
    char *absolute = original ? strdup(original) : realpath(path, NULL);
    bool is_written;

    if (!absolute)
        return fail(failure, path, "cannot find it any more: %s", strerror(errno));
    source->original_path = absolute;
    is_written = image->format->write(image, source, output, expected, failure);
    free(absolute);
    return is_written;
}

/* An image in which the user's own filter leaves nothing is written. */
static bool require_hooked(const struct image *image, const struct rewrite_options *options,
                           struct rewrite_result *result, struct failure *failure)
{
    if (result->hooked > 0 || options->only || (options->filter && options->filter->count > 0))
        return true;
    result->reason = REASON_NO_FUNCTIONS;
    return fail(failure, image->input->path, "expected functions to hook, found none that can be");
}

bool rewrite_image(struct image *image, const struct rewrite_options *options,
                   const struct agent *agent, struct output_file *output,
                   struct rewrite_result *result, struct judge_expectation *expected,
                   struct failure *failure)
{
    const struct image_format *format = image->format;
    struct patch_plan plan = {0};
    struct copy_plan copies = {0};
    struct image_source source = {
        .plan = &plan,
        .copies = &copies,
        .agent = agent,
        .away = options->away,
        .original_hash = XXH3_64bits(image->input->bytes, image->input->size),
    };
    bool is_done = false;

    if ((!format->make_room || format->make_room(image, failure)) &&
        image_analyse(image, options, &plan, &copies, failure)) {
        copies.salt = /* which functions are copied numbers their links */
            (uint32_t)(source.original_hash ^ XXH3_64bits(copies.doubts, copies.count));
        *result = count(image, &copies);
        is_done = require_hooked(image, options, result, failure) &&
                  write_image(image, options->original, &source, output, expected, failure);
    }
    copy_plan_free(&copies);
    patch_plan_free(&plan);
    return is_done;
}

static bool because(struct rewrite_result *result, enum instrument_reason reason)
{
    result->reason = reason;
    return false;
}

/* What was found in it is said already, or the output is at fault, or the image is. */
static enum instrument_reason why_unwritten(const struct rewrite_result *result,
                                            const struct output_file *output)
{
    if (result->reason)
        return result->reason;
    if (output->error)
        return output->error == EFBIG ? REASON_SIZE : REASON_OUTPUT;
    return REASON_UNSUPPORTED;
}

/* Closes the image, too, before LIEF, which takes three times the file, parses what was written. */
static bool write_output(struct image *image, struct input_file *input,
                         const struct rewrite_options *options, const struct agent *agent,
                         struct rewrite_result *result, struct failure *failure)
{
    struct output_file output;
    struct judge_expectation expected;
    bool is_written;

    if (!output_file_begin(&output, options->output, options->overwrite, failure))
        return because(result, REASON_OUTPUT);
    output.is_passing = options->away; /* for a process that runs now */
    is_written = rewrite_image(image, options, agent, &output, result, &expected, failure);
    if (!is_written)
        result->reason = why_unwritten(result, &output);
    else if (!output_file_settle(&output, &input->status, failure))
        is_written = because(result, REASON_OUTPUT);
    image_close(image);
    input_file_close(input);
    if (is_written && !options->no_verify &&
        !judge_image(output.readable, options->output, &expected, failure))
        is_written = because(result, REASON_VERIFICATION);
    if (is_written && !output_file_commit(&output, options->overwrite, failure))
        is_written = because(result, REASON_OUTPUT);
    if (!is_written)
        output_file_abandon(&output);
    return is_written;
}

/* Beside what loads it: a static executable has it inside, and a PE image finds it nowhere else. */
static bool bundle(const struct image *image, const struct rewrite_options *options,
                   struct agent *agent, struct failure *failure)
{
    const struct image_format *format = image->format;
    bool is_inside = format->is_agent_inside && format->is_agent_inside(image);

    if (!format->agent->is_always_bundled && (!options->bundle || is_inside))
        return true;
    return agent_bundle(agent, options->output, options->overwrite, failure);
}

static bool rewrite_opened(struct image *image, struct input_file *input,
                           const struct rewrite_options *options, struct rewrite_result *result,
                           struct failure *failure)
{
    struct agent agent;

    if (!image->format->require_fit(image, failure))
        return because(result, refusal_unfit(input));
    if (options->away && !image->format->can_be_away) {
        result->reason = REASON_UNSUPPORTED;
        return fail(failure, input->path, "--away: expected an ELF file for x86-64, found another");
    }
    if (!agent_find(&agent, options->agent, image->format->agent, failure) ||
        !bundle(image, options, &agent, failure))
        return because(result, REASON_NO_AGENT);
    if (!write_output(image, input, options, &agent, result, failure)) {
        agent_unbundle(&agent);
        return false;
    }
    return true;
}

/* The original is to be there afterwards, by whatever path it was reached. */
static bool check_apart(const struct input_file *input, const char *output, struct failure *failure)
{
    struct stat status;

    return lstat(output, &status) < 0 || status.st_dev != input->status.st_dev ||
           status.st_ino != input->status.st_ino ||
           fail(failure, output, "expected another file than the original, found that itself");
}

bool rewrite_file(const struct rewrite_options *options, struct rewrite_result *result,
                  struct failure *failure)
{
    struct input_file input;
    struct image image;
    bool is_done = false;

    *result = (struct rewrite_result){0};
    if (options->descriptor ? !input_file_take(&input, options->input, options->descriptor, failure)
                            : !input_file_open(&input, options->input, failure))
        return because(result, refusal_unread(&input));
    if (!check_apart(&input, options->output, failure)) {
        result->reason = REASON_OUTPUT;
    } else if (!image_open(&image, &input, failure)) {
        result->reason = refusal_unfit(&input);
    } else {
        is_done = rewrite_opened(&image, &input, options, result, failure);
        result->lost_rights = input.rights;
        image_close(&image);
    }
    input_file_close(&input);
    return is_done;
}

void rewrite_say_losses(const char *input, const struct rewrite_result *result)
{
    if (result->lost_signature)
        say_note("%s: its signature does not hold any more; dropped", input);
    rights_say_dropped(input, result->lost_rights);
}
