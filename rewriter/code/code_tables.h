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

/*
 * What code of 32 bits loads an entry of, if it may be a jump table: of addresses, in code linked to a fixed one,
 * or of distances from code->got. Sets `address` and `origin` alone; address 0: it loads none. Code of 64 bits
 * takes a table's address by lea.
 */
struct code_table code_table_loaded(const struct code *code, const struct instruction *at);

/* Notes where the jump tables found by all sweeps lead. */
void code_tables_note(const struct code *code, struct code_map *map);

#endif
