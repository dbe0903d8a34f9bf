/* What the instructions of a function, or of a gap between functions, refer to. */
#ifndef UMBRA_REWRITER_CODE_SWEEP_H
#define UMBRA_REWRITER_CODE_SWEEP_H

#include "rewriter/code/code.h"

/*
 * Notes what a function refers to; marks it if it cannot be hooked. Spends work for what it has to
 * decode.
 */
void code_sweep(const struct code *code, struct function *function, struct code_map *map);
/* Notes what code between functions refers to; only its jumps count. */
void code_sweep_gap(const struct code *code, uint64_t address, uint64_t end, struct code_map *map);

#endif
