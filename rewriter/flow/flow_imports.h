/* Imports: what slots that the loader fills in lead to, and who jumps through them. */
#ifndef UMBRA_REWRITER_FLOW_IMPORTS_H
#define UMBRA_REWRITER_FLOW_IMPORTS_H

#include "rewriter/code/decode.h"
#include "rewriter/flow/flow.h"

/* The slot that a stub of the procedure linkage table jumps through; 0 if no stub is there, or it
   is none that is known. Stubs that are never called are no functions of the list, but one is below.
   A minimal decoder. */
uint64_t flow_stub_slot(const struct flow_source *source, const ZydisDecoder *decoder,
                        uint64_t address);

/* The import that has that slot, or null. */
const struct flow_import *flow_import_at(const struct flow_source *source, uint64_t slot);

#endif
