/* Copied bodies (copy/), as far as they depend on the format. */
#ifndef UMBRA_REWRITER_ELF_COPIES_H
#define UMBRA_REWRITER_ELF_COPIES_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/write/elf_layout.h"

/* Fills in an empty source but for `doubt`; copy_source_free ends it. */
void elf_copies_source(struct copy_source *source, const struct elf_code *elf,
                       const struct elf_image *image);

/* Why a member is not to be copied, as far as an ELF file knows. */
enum flow_doubt elf_copies_doubt(const struct elf_code *elf, const struct elf_image *image,
                                 const struct function *function);

/* Notes the entries of 8 bytes of tables, once the image's own tables are planned; refuses an image
   in which what copies change is among them. */
bool elf_copies_note(struct change_list *changes, const struct elf_layout *layout,
                     const struct copy_plan *plan, struct failure *failure);

/* Stores them, once the copies have their addresses and all tables are built. */
void elf_copies_store(const struct elf_layout *layout, const struct copy_plan *plan,
                      const struct function_list *functions);

#endif
