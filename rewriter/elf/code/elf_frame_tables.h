/*
 * Code whose runtime looks up the return addresses of its frames: OCaml's native code.
 *
 * At a garbage collection the runtime walks the stack. It finds each frame's size, and which of its
 * words are pointers, by the frame's return address in a hash table, and reads the next return
 * address behind it. An address that is not in the table, as a thunk's, ends the program. So no
 * function is hooked that has such a frame: its callers' walk reads its slot. The same holds for
 * the runtime's own functions that read or keep a return address of OCaml's (caml_call_gc,
 * caml_alloc1, caml_start_program). They also fault on purpose, or expect that only OCaml's code
 * does: Stack_overflow is raised where a fault's address lies in that code, and not in a stub.
 *
 * What OCaml calls in C is hooked. caml_c_call takes the return address off the stack and keeps it
 * before it jumps to a C function, so the walk begins above that function's slot. A function that
 * is called directly ([@@noalloc]) ends before there can be a walk. caml_call_gc keeps the return
 * address, too, before it calls C. An exception that C raises leaves C's frames as longjmp does.
 *
 * The runtime's hash table is made of tables in the image, one for each unit of OCaml's code, so
 * they are found in stripped images, too:
 *
 *      word count                      of 8 bytes, or of 4
 *      count times, aligned to a word:
 *          word return address         behind a call
 *          u16 bytes of the frame      a multiple of a word, + 1: has debug information, + 2: allocates;
 *                                      0xffff: no frame, OCaml was called from C here
 *          u16 live                    how many words are pointers
 *          u16 offset * live
 *          u8 n, u8 length * n         if it allocates
 *          u32 * (1, or n if it allocates), aligned to 4 bytes     if it has debug information
 *
 * That is OCaml 4.11 to 5.1. Of an older one the debug information is longer: where it has some,
 * only names tell its code: each unit's lies between caml…__code_begin and caml…__code_end.
 * Where neither is found, but OCaml's code is (ocaml_code.h), no function is hooked.
 *
 * GHC's is told by elf_info_tables.h, Go's by its own marks (elf_require.c), V8's and HotSpot's by
 * elf_generated.h.
 */
#ifndef UMBRA_REWRITER_ELF_FRAME_TABLES_H
#define UMBRA_REWRITER_ELF_FRAME_TABLES_H

#include "rewriter/code/code.h"
#include "rewriter/elf/image/elf_image.h"

/* Decides the functions that have frames in such tables, and those that lead to a reader of return
   addresses: PATCH_FRAME_TABLE. Once functions are found. */
void elf_frame_tables_mark(const struct elf_image *image, const struct code *code,
                           const struct code_map *map, struct function_list *functions);

#endif
