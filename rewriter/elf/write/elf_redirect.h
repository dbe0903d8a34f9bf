/*
 * Pointers to functions that are redirected (patch_redirect.h), as an ELF image has them: the
 * addends of relative relocations, words that DT_RELR names, and values of dynamic symbols, through
 * which other images get the address. Section symbols and .symtab, for debuggers, stay.
 */
#ifndef UMBRA_REWRITER_ELF_REDIRECT_H
#define UMBRA_REWRITER_ELF_REDIRECT_H

#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/write/elf_grown.h"
#include "rewriter/patch/change_list.h"
#include "rewriter/patch/patch_plan.h"

/* Redirects what it can of what is planned. */
void elf_redirect_plan(struct patch_plan *plan, const struct elf_code *elf,
                       const struct elf_image *image);

/* Notes what will be overwritten in the original, once its tables are planned. */
bool elf_redirect_note(struct change_list *changes, const struct elf_growth *growth,
                       const struct patch_plan *plan, struct failure *failure);

/* Sends all to the stubs, before tables are stored. */
void elf_redirect_store(const struct elf_grown *grown, const struct stub_segment *stubs,
                        const struct patch_plan *plan, const struct stub_moves *moves);

#endif
