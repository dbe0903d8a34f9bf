/*
 * Patterns against the source files of functions, as far as the image or its debug file has line
 * tables. libdwarf reads them, which damaged files were seen to crash and to hang; so it works in
 * a child process with limits, which also does the matching:
 *
 *      shared memory       rules [function_count]     last rule that matches, as a number from 1
 *                          matched [rule_count]       which rules have matched
 *
 * What the child found before a crash counts. The file of a function is that of the first row at its
 * first instruction.
 */
#ifndef UMBRA_REWRITER_SOURCE_RULES_H
#define UMBRA_REWRITER_SOURCE_RULES_H

#include <stdint.h>

#include "rewriter/functions/filter.h"
#include "rewriter/functions/function_list.h"

/* Raises rules[i] of each function that the rules for sources match, but never lowers one. */
void source_rules_match(struct filter *filter, const char *path,
                        const struct function_list *functions, size_t *rules);

#endif
