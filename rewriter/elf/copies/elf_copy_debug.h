/*
 * What gdb is told of copied bodies, in a section that is not loaded: it looks for unwind
 * information in .eh_frame, of which it knows one, and .debug_frame. Names: elf_copy_symbols.h.
 */
#ifndef UMBRA_REWRITER_ELF_COPY_DEBUG_H
#define UMBRA_REWRITER_ELF_COPY_DEBUG_H

#include "rewriter/elf/copies/elf_copy_frames.h"

/* The frames as .debug_frame has them; the CIEs are copied into it, and the instructions from the buffer that
   elf_copy_frames_append put them into. */
void elf_copy_debug_frames(const struct elf_copy_frames *frames, const struct buffer *from,
                           struct buffer *to);

#endif
