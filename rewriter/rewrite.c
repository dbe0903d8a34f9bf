#include "rewriter/rewrite.h"

#include "rewriter/image_format.h"
#include "rewriter/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_output(const struct image_format *format, const struct rewrite_options *options,
                         struct input_file *input, const struct agent *agent,
                         struct rewrite_result *result, struct failure *failure)
{
    struct output_file output;
    struct judge_expectation expected;

    if (!output_file_begin(&output, options->output, options->overwrite, failure))
        return false;
    if (format->rewrite(input, options, agent, &output, result, &expected, failure) &&
        output_file_settle(&output, &input->status, failure) &&
        (options->no_verify ||
         judge_image(output.temporary, options->output, &expected, failure)) &&
        output_file_commit(&output, options->overwrite, failure))
        return true;
    output_file_abandon(&output);
    return false;
}

/* Beside what loads it: a static executable has it inside, and a PE image finds it nowhere else. */
static bool bundle(const struct image_format *format, const struct rewrite_options *options,
                   const struct input_file *input, struct agent *agent, struct failure *failure)
{
    bool is_inside = format->embeds_agent && format->embeds_agent(input);

    if (!format->agent->is_always_bundled && (!options->bundle || is_inside))
        return true;
    return agent_bundle(agent, options->output, options->overwrite, failure);
}

bool rewrite_file(const struct rewrite_options *options, struct rewrite_result *result,
                  struct failure *failure)
{
    struct input_file input;
    const struct image_format *format;
    struct agent agent;
    bool is_done;

    if (!input_file_open(&input, options->input, failure))
        return false;
    format = image_format_of(input.bytes, input.size);
    is_done = format->check(&input, failure) &&
              agent_find(&agent, options->agent, format->agent, failure) &&
              bundle(format, options, &input, &agent, failure);
    if (is_done) {
        is_done = write_output(format, options, &input, &agent, result, failure);
        if (is_done && result->lost_signature)
            say_note("%s: its signature does not hold any more; dropped", options->input);
        if (!is_done)
            agent_unbundle(&agent);
    }
    input_file_close(&input);
    return is_done;
}

bool list_file(const struct rewrite_options *options, struct failure *failure)
{
    struct input_file input;
    bool is_done;

    if (!input_file_open(&input, options->input, failure))
        return false;
    is_done = image_format_of(input.bytes, input.size)->list(&input, options, failure);
    if (is_done && (fflush(stdout) != 0 || ferror(stdout)))
        is_done = fail(failure, options->input, "cannot print its list: %s", strerror(errno));
    input_file_close(&input);
    return is_done;
}
