/*
 * Entries of 8 bytes of jump tables that lead into copies: addends of relative relocations, words
 * that DT_RELR names, and words that hold as they are.
 */
#ifndef UMBRA_REWRITER_ELF_COPY_WORDS_H
#define UMBRA_REWRITER_ELF_COPY_WORDS_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/write/elf_grown.h"

/* Notes them, once the image's own tables are planned; refuses an image in which what copies change
   is among them. */
bool elf_copy_words_note(struct change_list *changes, const struct elf_growth *growth,
                         const struct copy_plan *plan, struct failure *failure);

/* Stores them, once the copies have their addresses. */
void elf_copy_words_store(const struct elf_grown *grown, const struct copy_plan *plan,
                          const struct copy_set *copies, const struct function_list *functions);

#endif
