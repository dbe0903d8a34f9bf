/*
 * Code that a program's own code generator put into the image when it was built: V8's builtins.
 *
 * Such code and what the same generator makes at run time call each other, and C++, and find their
 * way through the stack by return addresses: which builtin is this frame's, where are pointers in
 * it, which call is to be patched. A thunk's address in a slot of theirs ends the program. So none
 * of that code is hooked, and the agent, which is told where it lies (image_header), lets calls
 * from it and from code made at run time pass.
 *
 * It is recognised by how it sets up frames. V8 either moves by the instruction's load form, where
 * assemblers and compilers for ELF use its store form, or, in older versions, pushes the frame's
 * kind or owner right behind rbp:
 *
 *      push rbp            55
 *      mov  rbp, rsp       48 8b ec       mov r64, r/m64: V8 alone
 *                          48 89 e5       mov r/m64, r64: everybody, and
 *      push 2 n            6a 2n             the kind of a frame, or
 *      push rsi, rdi, rax  56 57 50          context, function, number of arguments
 *
 * In chromium 156 the first occurs 3,613 times in a stretch of 2.2 MB and nowhere else in 236 MB of
 * code; in node 20 the others occur 1,914 times in one of 1.6 MB, and twice in the rest of 28 MB.
 * HotSpot and Mono make all such code at run time, or keep it in files of its own; their libraries
 * are known by JNI_CreateJavaVM and mono_jit_init.
 * Compilers that write the first too (DMD's) describe their frames, which V8's builtins do not.
 */
#ifndef UMBRA_REWRITER_ELF_GENERATED_H
#define UMBRA_REWRITER_ELF_GENERATED_H

#include "rewriter/code/code.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/unwind/eh_frame.h"
#include "trace/image_manifest.h"

/* The longest such stretch, in whole pages; empty if there is none. */
struct elf_span elf_generated_find(const struct code *code, const struct function_list *functions,
                                   const struct eh_frame *frame);

/* Decides the functions in it: PATCH_GENERATED. */
void elf_generated_mark(const struct elf_span *generated, struct function_list *functions);

#endif
