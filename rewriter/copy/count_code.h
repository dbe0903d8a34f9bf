/*
 * What adds to the thread's word of instructions (copy_count.h), where a block begins:
 *
 *          mov  r, [frames]                where the thread has its words
 *          test r, r
 *          jz   on                         nothing is recorded
 *          add  qword fs:[r + WORD], number
 *  on:
 *
 * or, where flags are alive:
 *
 *          mov  rcx, [frames]
 *          jrcxz on
 *          mov  r, fs:[rcx + WORD]
 *          lea  r, [r + number]
 *          mov  fs:[rcx + WORD], r
 *  on:
 *
 * Registers that are alive are kept below the red zone, with the stack pointer lowered meanwhile, as signal handlers
 * leave only what is right below it as it is.
 */
#ifndef UMBRA_REWRITER_COUNT_CODE_H
#define UMBRA_REWRITER_COUNT_CODE_H

#include "rewriter/copy/copy_writer.h"

/* dead: registers that nobody reads any more, as flow_registers_dead has them. */
void count_code_put(struct copy_writer *writer, int32_t number, uint16_t dead, bool flags_are_dead);

#endif
