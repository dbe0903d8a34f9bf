/* Jump tables, in data and between instructions. */
#ifndef UMBRA_REWRITER_CODE_TABLES_H
#define UMBRA_REWRITER_CODE_TABLES_H

#include "rewriter/code/code.h"
#include "rewriter/code/decode.h"

/*
 * Finds the tables between instructions that functions of a known extent refer to, so that no sweep
 * takes them for code. To be called before the first one.
 */
void code_inline_tables_find(const struct code *code, const struct function_list *functions,
                             struct code_map *map);
/* Notes the one an instruction of the function from start to end refers to, if it does. */
void code_inline_table_note(const struct code *code, struct code_map *map,
                            const struct instruction *at, uint64_t start, uint64_t end);

/* Notes where the jump tables found by all sweeps lead. */
void code_tables_note(const struct code *code, struct code_map *map);

#endif
