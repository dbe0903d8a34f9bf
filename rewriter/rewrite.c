#include "rewriter/rewrite.h"

#include "rewriter/elf/elf_rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * The format is chosen here: ELF so far. What is asked of a format are a function that rewrites
 * and one that lists.
 */
static bool write_output(const struct rewrite_options *options, struct input_file *input,
                         const struct agent *agent, struct rewrite_result *result,
                         struct failure *failure)
{
    struct output_file output;
    struct judge_expectation expected;

    if (!output_file_begin(&output, options->output, options->overwrite, failure))
        return false;
    if (elf_rewrite(input, options, agent, &output, result, &expected, failure) &&
        output_file_settle(&output, &input->status, failure) &&
        (options->no_verify || judge_elf(output.temporary, options->output, &expected, failure)) &&
        output_file_commit(&output, options->overwrite, failure))
        return true;
    output_file_abandon(&output);
    return false;
}

/* Beside what loads it: a static executable has it inside. */
static bool bundle(const struct rewrite_options *options, const struct input_file *input,
                   struct agent *agent, struct failure *failure)
{
    if (!options->bundle || elf_embeds_agent(input))
        return true;
    return agent_bundle(agent, options->output, options->overwrite, failure);
}

bool rewrite_file(const struct rewrite_options *options, struct rewrite_result *result,
                  struct failure *failure)
{
    struct input_file input;
    struct agent agent;
    bool is_done;

    if (!input_file_open(&input, options->input, failure))
        return false;
    is_done = elf_check(&input, failure) && agent_find(&agent, options->agent, failure) &&
              bundle(options, &input, &agent, failure);
    if (is_done) {
        is_done = write_output(options, &input, &agent, result, failure);
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
    is_done = elf_list(&input, options, failure);
    if (is_done && (fflush(stdout) != 0 || ferror(stdout)))
        is_done = fail(failure, options->input, "cannot print its list: %s", strerror(errno));
    input_file_close(&input);
    return is_done;
}
