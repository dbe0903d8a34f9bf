/*
 * Code that a program's own code generator put into the image when it was built: V8's builtins, in
 * node, Electron and Chromium. elf_generated.h says why none of it is hooked, and why the agent is
 * told where it lies.
 *
 * For Windows, V8 describes it in .pdata. Nearly all builtins share one unwind information, which
 * says what only a part of them do:
 *
 *      version 1, a handler; frame register rbp; prologue of 4 bytes, two codes:
 *      push rbp            code at 1
 *      mov  rbp, rsp       code at 4
 *
 * A block that sets up no such frame gets an entry all the same, which then begins up to 4 bytes
 * before the block, in what is unused between two builtins
 * (src/snapshot/embedded/platform-embedded-file-writer-win.cc):
 *
 *      entry --> cc cc cc cc
 *                48 8b dd ...        the bytecode's handler begins here
 *
 * No compiler writes that information: a function with a handler calls something, and so makes room
 * for its arguments within the prologue. In node 18, 2,407 entries in a row have it, with 1.4 MB of
 * code, and no other has.
 */
#ifndef UMBRA_REWRITER_PE_GENERATED_H
#define UMBRA_REWRITER_PE_GENERATED_H

#include "rewriter/pe/pe_code.h"

/* Finds the longest such stretch, pe->generated, and decides the functions in it:
   PATCH_GENERATED. */
void pe_generated_mark(struct pe_code *pe);

#endif
