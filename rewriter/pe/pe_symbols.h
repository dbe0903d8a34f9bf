/* Functions that symbols and exports name. */
#ifndef UMBRA_REWRITER_PE_SYMBOLS_H
#define UMBRA_REWRITER_PE_SYMBOLS_H

#include "rewriter/pe/pe_code.h"

/* Adds what symbols and exports say. */
void pe_symbols_add(struct pe_code *pe);

#endif
