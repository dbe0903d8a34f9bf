/* Finding every function of an image. */
#ifndef UMBRA_REWRITER_CODE_DISCOVER_H
#define UMBRA_REWRITER_CODE_DISCOVER_H

#include "rewriter/code/code.h"

/*
 * Finds every function: sweeps those in the list, adds what they call, sweeps that, and so on.
 * The list comes in and leaves settled. The map may hold pointers the format knows of.
 *
 * Work is limited to a multiple of the code's size: a hostile file may have each of thousands of
 * functions claim all code as its own, or call the next one so that each round finds just one.
 */
void code_discover(const struct code *code, struct function_list *functions, struct code_map *map);

/* Whether the bytes decode up to an instruction that does not go on to the next. */
bool code_is_decodable(const struct code *code, uint64_t address);

#endif
