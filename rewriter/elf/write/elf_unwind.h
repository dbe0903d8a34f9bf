/* Unwind information of the stubs and of an embedded agent. */
#ifndef UMBRA_REWRITER_ELF_UNWIND_H
#define UMBRA_REWRITER_ELF_UNWIND_H

#include "rewriter/elf/write/elf_layout.h"

/*
 * Adds unwind information for the stubs and the copies, and an index of it and the original's, to
 * `tables`; moves: where each function's instructions went. Does nothing to an image that has no
 * index and into which no agent is embedded. False if a copy's cannot be made:
 * elf_copy_frames_can.h.
 */
bool elf_unwind_build(struct elf_layout *layout, const struct elf_code *elf,
                      const struct stub_moves *moves, struct failure *failure);
/* Fills in the index entries of the embedded agent's frames, once it has its address. */
void elf_unwind_bind(struct elf_layout *layout);

#endif
