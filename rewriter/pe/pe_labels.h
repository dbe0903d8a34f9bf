/*
 * Symbols of code that do not say that they are functions: their type is 0. Assemblers write that
 * where they are not told better (`.def name; .type 32`), or cannot be told. A label may as well be
 * data among the code, or a place within a function that a jump table leads to, and a jump put
 * there would break both. So
 *
 *   - a function that is found otherwise, by a call or by .pdata, gets its label's name, and
 *   - a label is taken for a function if it is external, something points to it by a base
 *     relocation, it is not in the middle of what .pdata describes, and its bytes decode and are no
 * padding.
 */
#ifndef UMBRA_REWRITER_PE_LABELS_H
#define UMBRA_REWRITER_PE_LABELS_H

#include "rewriter/pe/pe_code.h"

/* Notes a symbol without a type. */
void pe_labels_note(struct pe_code *pe, struct pe_label label);

/* Once relocations are read: adds those that are taken for functions. */
void pe_labels_add(struct pe_code *pe);

/* Once functions are found: names those that have none. */
void pe_labels_name(struct pe_code *pe);

/* For who looks for names alone: adds each. */
void pe_labels_add_all(struct pe_code *pe);

#endif
