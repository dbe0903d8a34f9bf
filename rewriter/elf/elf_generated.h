/*
 * Code that a program's own code generator put into the image when it was built: V8's builtins.
 *
 * Such code and what the same generator makes at run time call each other, and C++, and find their
 * way through the stack by return addresses: which builtin is this frame's, where are pointers in
 * it, which call is to be patched. A thunk's address in a slot of theirs ends the program. So none
 * of that code is hooked, and the agent, which is told where it lies (image_header), lets calls
 * from it and from code made at run time pass.
 *
 * It is told by how a frame is set up: assemblers and compilers for ELF store, V8 loads.
 *
 *      push rbp            55
 *      mov  rbp, rsp       48 89 e5       everybody: mov r/m64, r64
 *                          48 8b ec       V8:        mov r64, r/m64
 *
 * In chromium 156 that occurs 3,613 times in a stretch of 2.2 MB and nowhere else in 236 MB of
 * code. Compilers that write it too (DMD's) describe their frames, which V8's builtins do not.
 */
#ifndef UMBRA_REWRITER_ELF_GENERATED_H
#define UMBRA_REWRITER_ELF_GENERATED_H

#include "rewriter/elf/elf_code.h"

/* Fills in elf->generated: the longest such stretch, in whole pages; empty if there is none. */
void elf_generated_find(struct elf_code *elf);

/* Decides the functions in it: PATCH_GENERATED. */
void elf_generated_mark(struct elf_code *elf);

#endif
