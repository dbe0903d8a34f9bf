/* What the user's filter says about the functions of an ELF image. */
#ifndef UMBRA_REWRITER_ELF_FILTER_H
#define UMBRA_REWRITER_ELF_FILTER_H

#include "rewriter/elf/elf_code.h"
#include "rewriter/filter.h"

/*
 * Gives excluded functions, if they are undecided, their reason. A function that has several names
 * is matched by each of them; one without a name
 * by patterns for sources and modules only.
 */
void elf_filter_apply(struct filter *filter, struct elf_code *elf, const struct elf_image *image);

#endif
