/*
 * The base relocations of an instrumented image of 32 bits, whose code is full of addresses: a word that moved to
 * a stub with its instruction is relocated there, and no more where it was, as that is a jump now.
 *
 *      function:  a1 ........          mov  eax, [address]     e9 ........        jmp  stub
 *                    ^ HIGHLOW                           ->
 *      body:                                                   a1 ........        mov  eax, [address]
 *                                                                 ^ HIGHLOW
 */
#ifndef UMBRA_REWRITER_PE_RELOCATIONS_H
#define UMBRA_REWRITER_PE_RELOCATIONS_H

#include "rewriter/patch/patch_plan.h"
#include "rewriter/pe/pe_layout.h"

/* Appends .reloc; nothing if there is none, or nothing of it moves. Code is as it was. */
void pe_relocations_build(struct pe_layout *layout, const struct pe_code *pe,
                          const struct patch_plan *plan, const struct stub_moves *moves);

#endif
