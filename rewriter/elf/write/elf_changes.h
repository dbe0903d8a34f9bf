/* Which places of an ELF image are overwritten besides prologues: all that elf_write does. */
#ifndef UMBRA_REWRITER_ELF_CHANGES_H
#define UMBRA_REWRITER_ELF_CHANGES_H

#include "rewriter/elf/image/elf_image.h"
#include "rewriter/patch/change_list.h"
#include "rewriter/patch/patch_write.h"

/*
 * Fills in an empty list, whose items must be freed. To be called while the image is as it was
 * read; whoever overwrites something else has it noted here.
 */
bool elf_changes_collect(struct change_list *list, const struct elf_image *image,
                         const struct patch_plan *plan, struct failure *failure);

#endif
