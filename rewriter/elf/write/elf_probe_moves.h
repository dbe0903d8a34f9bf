/* Probes of functions that are copied: originals do not run, so the notes lead to the copies. */
#ifndef UMBRA_REWRITER_ELF_PROBE_MOVES_H
#define UMBRA_REWRITER_ELF_PROBE_MOVES_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/code/elf_probes.h"
#include "rewriter/patch/change_list.h"

/* Notes what will be overwritten; false if it is out of reach. */
bool elf_probes_note_moves(struct change_list *changes, const struct elf_probes *probes,
                           const struct elf_image *image, const struct function_list *functions,
                           const struct copy_plan *plan, struct failure *failure);
/* Overwrites it, once the copies have their addresses. */
void elf_probes_move(const struct elf_probes *probes, const struct elf_image *image,
                     const struct function_list *functions, const struct copy_set *copies);

#endif
