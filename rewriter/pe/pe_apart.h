/* Checks that code shares no bytes with what else of an image changes, as no linker does. */
#ifndef UMBRA_REWRITER_PE_APART_H
#define UMBRA_REWRITER_PE_APART_H

#include "rewriter/patch/change_list.h"
#include "rewriter/pe/pe_code.h"

/*
 * Refuses images in which code that is to be patched meets headers or debug entries that are to be
 * changed, or in which the CET-compatible bit lies in a function. The first `others` changes are
 * those beside code, the rest are in it; prologues are planned, and nothing is written yet.
 */
bool pe_changes_check_apart(const struct pe_code *pe, const struct change_list *changes,
                            size_t others, struct failure *failure);

#endif
