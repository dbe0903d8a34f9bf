/* Where instructions went, once all copies are there: for branches between them, and for stubs. */
#ifndef UMBRA_REWRITER_COPY_RESOLVE_H
#define UMBRA_REWRITER_COPY_RESOLVE_H

#include "rewriter/copy/copy_writer.h"
#include "rewriter/functions/function_list.h"

/* The address of the copy of an instruction of the original; 0 if it has none. */
uint64_t copy_address(const struct copy_set *set, const struct function_list *functions,
                      uint64_t original);

/* Fills in the distances of branches, and has stubs lead to copies. */
void copies_resolve(struct copy_writer *writer, const struct function_list *functions);

#endif
