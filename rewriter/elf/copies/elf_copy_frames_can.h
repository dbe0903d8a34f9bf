/* Which unwind information can be carried over to a copied body (elf_copy_frames.h). */
#ifndef UMBRA_REWRITER_ELF_COPY_FRAMES_CAN_H
#define UMBRA_REWRITER_ELF_COPY_FRAMES_CAN_H

#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/image/elf_image.h"

/*
 * Whether that of a function or fragment of the list can be. One that has none is no obstacle,
 * unless some of the image's could not be read. It says no to what no compiler writes, and if the
 * function overlaps the next one.
 */
bool elf_copy_frames_can(const struct elf_code *elf, const struct elf_image *image,
                         const struct function *function);

#endif
