/* Fragments and functions. */
#ifndef UMBRA_REWRITER_CODE_CLASSIFY_H
#define UMBRA_REWRITER_CODE_CLASSIFY_H

#include "rewriter/code/code.h"

/* Tells fragments from functions, by what the sweep saw. */
void code_classify(const struct code_map *map, struct function_list *functions);

#endif
