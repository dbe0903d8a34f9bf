/*
 * Functions of images of 32 bits, of which no table tells, and how far each goes. Each known one is followed to its
 * last instruction: one that does not go on to the next, behind which no jump of the function leads.
 *
 *      start:   jcc  a            a is the furthest
 *               ret               goes on: a is behind it
 *      a:       jmp  [reg * 4 + table]
 *      b, c:    ...               the table's entries are the furthest
 *               ret               the end
 *      table:   .long b, c        Microsoft's compilers put it there, among the code
 *
 * What it calls is a function, and what it jumps to elsewhere, at a multiple of 16, unless it is a part of one
 * (pe_stack.h). So is, where its address is taken, or stands in data, and it is none's part
 *
 *      - what begins with `push ebp; mov ebp, esp`, perhaps behind `mov edi, edi`,
 *      - what begins where a known function ends, by a return or a jump: code made for size has no padding, and
 *      - what begins at a multiple of 16, behind int3, with which nobody fills up the inside of a function;
 *
 * and what begins in the first way in a gap, behind a return or what fills up. A base relocation at an instruction's
 * first byte says that it is data.
 */
#ifndef UMBRA_REWRITER_PE_FOLLOW_H
#define UMBRA_REWRITER_PE_FOLLOW_H

#include "rewriter/pe/pe_code.h"

/* Adds to the functions, which it settles, all that it finds, and where each ends. */
void pe_follow(struct pe_code *pe);

#endif
