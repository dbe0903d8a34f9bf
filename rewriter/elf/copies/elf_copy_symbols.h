/*
 * Symbols of copied bodies, for debuggers and profilers: in a copy they find the function's name.
 *
 *      .symtab of the original      of the result
 *      | local symbols  |           | local symbols              |
 *      | global symbols |           | a local one for each copy  |  the name is the function's
 *                                   | global symbols             |
 *
 * Of main's two symbols the copy's is the global one: gdb ends a backtrace at the function that it
 * finds by that name, and prefers global symbols. The original's body never runs.
 *
 * They begin at the first instruction, to which each way into a copy comes, so that a breakpoint
 * misses none. Names are where they were, in .strtab. Images whose sections of relocations count
 * the symbols (--emit-relocs) are left as they are. What a stripped image has is in
 * elf_copy_exports.h.
 */
#ifndef UMBRA_REWRITER_ELF_COPY_SYMBOLS_H
#define UMBRA_REWRITER_ELF_COPY_SYMBOLS_H

#include "rewriter/base/buffer.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/functions/function_list.h"

/* Appends the table to `tail`, which will lie at tail_offset, and changes its header in `headers`.
   stubs: index of the section that has the copies. */
void elf_copy_symbols_add(const struct elf_image *image, const struct copy_set *copies,
                          const struct function_list *functions, size_t stubs, struct buffer *tail,
                          uint64_t tail_offset, struct buffer *headers);

#endif
