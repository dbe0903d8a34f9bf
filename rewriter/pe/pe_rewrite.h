/* Instrumenting and listing PE images. */
#ifndef UMBRA_REWRITER_PE_REWRITE_H
#define UMBRA_REWRITER_PE_REWRITE_H

#include "rewriter/agent.h"
#include "rewriter/input_file.h"
#include "rewriter/judge.h"
#include "rewriter/output_file.h"
#include "rewriter/rewrite.h"

/* As struct image_format says. */
bool pe_check(const struct input_file *input, struct failure *failure);
bool pe_rewrite(struct input_file *input, const struct rewrite_options *options,
                const struct agent *agent, struct output_file *output,
                struct rewrite_result *result, struct judge_expectation *expected,
                struct failure *failure);
bool pe_list(struct input_file *input, const struct rewrite_options *options,
             struct failure *failure);

#endif
