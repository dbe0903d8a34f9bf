/*
 * What functions of 32 bits do with the stack pointer and their return address. Some of Microsoft's and mingw's
 * own work on their caller's frame: they make room in it, or put a frame up or down for it, and return with
 * another stack pointer than they were called with. Their caller's return address is moved, so they must not be hooked:
 *
 *      _chkstk, _alloca_probe       esp = caller's esp - eax; the return address goes along
 *      __SEH_prolog4, _EH_prolog3   push what the caller's frame begins with, then their return address; ret
 *      __SEH_epilog4, _EH_epilog3   pop their return address, the caller's frame, push it again; ret
 *      _setjmp3                     reads it
 *
 * They are told by what they do, as a C library is linked into many programs, without names. Each register
 * holds, as far as an instruction after the other tells,
 *
 *      a place         that many bytes above the return address
 *      a part          made of such a place and something that is not known
 *      something else
 */
#ifndef UMBRA_REWRITER_PE_STACK_H
#define UMBRA_REWRITER_PE_STACK_H

#include "rewriter/pe/pe_code.h"

/*
 * What is jumped to and never called may be a function, which tail calls lead to, or a part of one that the
 * compiler put elsewhere. It is a function if the stack pointer is at the return address wherever it is jumped to.
 *
 * Decides functions that read or write their return address, or return with another stack pointer:
 * PATCH_RETURN_ADDRESS; and such parts: PATCH_FRAGMENT. Functions have ends.
 */
void pe_stack_mark(struct pe_code *pe);

#endif
