/*
 * The formats of images: ELF and PE. The one a file has is told by its first bytes, here and
 * nowhere else; what is asked of a format are these functions.
 */
#ifndef UMBRA_REWRITER_IMAGE_FORMAT_H
#define UMBRA_REWRITER_IMAGE_FORMAT_H

#include "rewriter/agent.h"
#include "rewriter/image_kind.h"
#include "rewriter/input_file.h"
#include "rewriter/judge.h"
#include "rewriter/output_file.h"
#include "rewriter/rewrite.h"
#include "rewriter/verify_image.h"

struct image_format {
    const struct agent_format *agent;

    enum image_kind (*kind)(uint8_t *bytes, size_t size);
    /* Refuses what rewrite would, as far as that is known without looking at the code. */
    bool (*check)(const struct input_file *input, struct failure *failure);
    /* Whether the agent becomes a part of the image itself; null: never. */
    bool (*embeds_agent)(const struct input_file *input);
    /* Writes the instrumented image; says what the judge should find in it. Changes input's bytes.
     */
    bool (*rewrite)(struct input_file *input, const struct rewrite_options *options,
                    const struct agent *agent, struct output_file *output,
                    struct rewrite_result *result, struct judge_expectation *expected,
                    struct failure *failure);
    bool (*list)(struct input_file *input, const struct rewrite_options *options,
                 struct failure *failure);
    /* Each changes input's bytes; undo writes the original. */
    bool (*verify)(struct input_file *input, struct verify_result *result, struct failure *failure);
    bool (*undo)(struct input_file *input, struct output_file *output, struct failure *failure);
};

/* Never null: what is no image is refused by the ELF reader, with its reason. */
const struct image_format *image_format_of(const uint8_t *bytes, size_t size);

#endif
