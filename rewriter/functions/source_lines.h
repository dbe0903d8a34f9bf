/* Line tables, in the child process of source_rules.h. */
#ifndef UMBRA_REWRITER_SOURCE_LINES_H
#define UMBRA_REWRITER_SOURCE_LINES_H

#include "rewriter/functions/filter.h"
#include "rewriter/functions/function_list.h"

/* Raises rules[i] of each function that the rules for sources match, but never lowers one. */
void source_lines_match(struct filter *filter, const char *path,
                        const struct function_list *functions, uint32_t *rules);

#endif
