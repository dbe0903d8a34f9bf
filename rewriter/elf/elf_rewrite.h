/* Instrumenting and listing ELF images. */
#ifndef UMBRA_REWRITER_ELF_REWRITE_H
#define UMBRA_REWRITER_ELF_REWRITE_H

#include "rewriter/agent.h"
#include "rewriter/input_file.h"
#include "rewriter/judge.h"
#include "rewriter/list.h"
#include "rewriter/output_file.h"
#include "rewriter/rewrite.h"

/* Refuses what elf_rewrite would, as far as that is known without looking at the code. */
bool elf_check(const struct input_file *input, struct failure *failure);
/* Whether the agent goes into the image itself: a static executable. */
bool elf_embeds_agent(const struct input_file *input);

/* Writes the instrumented image; says what the judge should find in it. Changes input's bytes. */
bool elf_rewrite(struct input_file *input, const struct rewrite_options *options,
                 const struct agent *agent, struct output_file *output,
                 struct rewrite_result *result, struct judge_expectation *expected,
                 struct failure *failure);

bool elf_list(struct input_file *input, const struct rewrite_options *options,
              struct failure *failure);

#endif
