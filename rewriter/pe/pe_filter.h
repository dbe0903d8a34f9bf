/* Leaving alone what the user's filter says. */
#ifndef UMBRA_REWRITER_PE_FILTER_H
#define UMBRA_REWRITER_PE_FILTER_H

#include "rewriter/filter.h"
#include "rewriter/pe/pe_code.h"

/* Gives each excluded function that could be hooked its reason. The filter may be null. */
void pe_filter_apply(struct filter *filter, struct pe_code *pe);

#endif
