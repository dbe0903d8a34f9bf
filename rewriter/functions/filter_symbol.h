/* Patterns against a symbol's name. */
#ifndef UMBRA_REWRITER_FILTER_SYMBOL_H
#define UMBRA_REWRITER_FILTER_SYMBOL_H

#include "rewriter/functions/filter.h"

/* The number, from 1, of the last rule that matches the name in any of its forms; 0 if none does.
 */
size_t filter_match_symbol(struct filter *filter, const char *symbol);

#endif
