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

/* A word that counts a block (copy_blocks.h). */
struct count_word {
    size_t place; /* from the hook word's page */
    bool has_lanes;
    bool is_absolute; /* in code that is linked to a fixed address */
    uint16_t dead;    /* registers, as below */
    bool flags_are_dead;
};

/* Adds 1 to it. A register that is alive is kept below the red zone, as above, and so are flags. */
void count_code_put_word(struct copy_writer *writer, const struct count_word *word);

/* dead: registers that nobody reads any more, as flow_registers_dead has them. */
void count_code_put(struct copy_writer *writer, const struct count_block *block, uint16_t dead,
                    bool flags_are_dead);

#endif
