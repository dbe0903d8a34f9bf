/*
 * What adds to one of the thread's cells (copy_count.h), where a block begins:
 *
 *          add  qword fs:[CELL], number
 *
 * or, where flags are alive, with a register that is dead:
 *
 *          mov  r, fs:[CELL]
 *          lea  r, [r + number]
 *          mov  fs:[CELL], r
 *
 * If none is, one is kept below the red zone, with the stack pointer lowered meanwhile, as signal handlers leave
 * nothing as it is that is further below.
 */
#ifndef UMBRA_REWRITER_COUNT_CODE_H
#define UMBRA_REWRITER_COUNT_CODE_H

#include "rewriter/copy/copy_count.h"
#include "rewriter/copy/copy_writer.h"

/* Adds 1 to a word behind the hook word's page where flags are alive: with a register, as above. */
void count_code_put_word(struct copy_writer *writer, size_t word, uint16_t dead);

/* dead: registers that nobody reads any more, as flow_registers_dead has them. */
void count_code_put(struct copy_writer *writer, const struct count_block *block, uint16_t dead,
                    bool flags_are_dead);

#endif
