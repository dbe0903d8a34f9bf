/* What functions are known by name to be. */
#ifndef UMBRA_REWRITER_PE_NAMES_H
#define UMBRA_REWRITER_PE_NAMES_H

#include "rewriter/functions/patch_reason.h"

/* Why a function of that name is left alone, or PATCH_UNDECIDED. */
enum patch_reason pe_name_reason(const char *name);

#endif
