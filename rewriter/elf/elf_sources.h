/*
 * Patterns against the source files of functions, as far as the image or its debug file has line
 * tables. libdwarf reads them, which damaged files were seen to crash and to hang; so it works in
 * a child process with limits, which also does the matching:
 *
 *      shared memory       rules [function_count]     last rule that matches, as a number from 1
 *                          matched [rule_count]       which rules have matched
 *
 * What the child found before a crash counts.
 */
#ifndef UMBRA_REWRITER_ELF_SOURCES_H
#define UMBRA_REWRITER_ELF_SOURCES_H

#include "rewriter/filter.h"
#include "rewriter/patch.h"

#include <stdint.h>

/* Raises rules[i] of each function that the rules for sources match, but never lowers one. */
void elf_sources_match(struct filter *filter, const char *path,
                       const struct function_list *functions, size_t *rules);

/* The child's part (elf_sources_dwarf.c): rules[i] likewise. */
void elf_sources_read(struct filter *filter, const char *path,
                      const struct function_list *functions, uint32_t *rules);

#endif
