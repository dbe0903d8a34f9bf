/*
 * Code with info tables in front of it: Haskell's, compiled by GHC.
 *
 *      info table:   ...                        of a function its arity; of any kind
 *                    u64 layout                 which words of a closure are pointers
 *                    u32 type, u32 srt          of the closure
 *      X_info:       code
 *
 * A closure's first word is the address of that code. The garbage collector reads the table in
 * front of it: a pointer to a stub has another table, or none ("strange closure type").
 *
 * The code is never called. It is jumped to, and leaves by a jump through its own stack, of which
 * rbp is the top: `jmp [rbp]`, where C returns. [rsp] is no return address but a temporary of
 * whoever ran before. So nothing of it can be hooked, with or without a table: functions have
 * entries without one, too. C functions of the same image, GHC's runtime included, are called and
 * return as everywhere, and are hooked.
 *
 * C is told by its unwind information, which GHC writes for none of its code (with -g it goes to
 * .debug_frame). An image is Haskell's if it has or asks for info tables of GHC's runtime
 * (stg_upd_frame_info), as whatever is linked dynamically does; or if `jmp [rbp]` (ff 65 00) is
 * frequent in code without unwind information, as in stripped programs: pandoc has one every 350
 * bytes. It is rare in other code: chromium has these bytes 312 times in 236 MB.
 */
#ifndef UMBRA_REWRITER_ELF_INFO_TABLES_H
#define UMBRA_REWRITER_ELF_INFO_TABLES_H

#include "rewriter/code/code.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/unwind/eh_frame.h"

/* Decides the functions of Haskell's: PATCH_INFO_TABLE. Once functions are found. */
void elf_info_tables_mark(const struct elf_image *image, const struct code *code,
                          const struct eh_frame *frame, struct function_list *functions);

#endif
