/*
 * Imports: functions of other images that this one calls, through slots that the loader binds at
 * load time, or that a helper binds at the first call (delay imports):
 *
 *      caller:   call  [rip + slot]        ff 15 ........      __declspec(dllimport)
 *      caller:   jmp   [rip + slot]        ff 25 ........      dllimport, as a tail call
 *      caller:   call  thunk               e8 ........         otherwise
 *      thunk:    jmp   [rip + slot]        ff 25 ........
 *
 * As in ELF images (elf_imports.h) the slot tells the import, and each of its sites is replaced by
 * a branch to the import's stub, whose body is `jmp [rip + slot]`. A slot that is not bound yet
 * leads to the code that binds it. Functions imported by number are called LIBRARY.dll#NUMBER.
 */
#ifndef UMBRA_REWRITER_PE_IMPORTS_H
#define UMBRA_REWRITER_PE_IMPORTS_H

#include "rewriter/pe/pe_code.h"

/* Adds to the functions each import that the swept code has a site of, undecided or with a reason.
 */
void pe_imports_add(struct pe_code *pe);

/* Leaves thunks alone: they are not functions of this image. */
void pe_thunks_mark(struct pe_code *pe);

#endif
