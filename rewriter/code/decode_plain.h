/*
 * The length of plain instructions, which neither branch nor take an address. Most instructions are
 * plain. A sweep has nothing to note of them, and passes over them at a fraction of what decoding
 * costs.
 */
#ifndef UMBRA_REWRITER_DECODE_PLAIN_H
#define UMBRA_REWRITER_DECODE_PLAIN_H

#include "rewriter/code/decode.h"

#define PLAIN_ROOM 16 /* bytes that must be there to look at */

/* What makes an instruction less than plain to a caller who minds it. */
enum plain_mind {
    PLAIN_MIND_NUMBER = 1, /* has a number of 32 bits, which may be an address */
    PLAIN_MIND_ARRAY = 2,  /* has an operand at [base + index * n + a distance of 32 bits] */
    PLAIN_MIND_RIP = 4,    /* has an operand at [rip + n] */
};

/*
 * Bytes of the instruction at the first of PLAIN_ROOM; 0 if it is not known to be plain, for which
 * instruction_decode is to be asked: it might branch, takes an address relative to rip, is rare or
 * not valid, or has something that is in `minds` (a set of enum plain_mind).
 * plain_length("\x48\x89\xe5...", 0) returns 3: mov rbp, rsp.
 */
size_t plain_length(const uint8_t *bytes, unsigned minds);

/*
 * Whether an instruction whose plain_length is not 0 pops what is at rsp + offset, or has an operand in memory
 * that begins in the eight bytes there; with is_rbp, at rbp + offset. A nop has none.
 */
bool plain_is_at_slot(const uint8_t *bytes, bool is_rbp, int64_t offset);

/*
 * Decodes direct branches, calls, `ret` and `lea reg, [rip + n]` in their plain forms: all of
 * *instruction but `zydis`. False if it is anything else. Needs PLAIN_ROOM bytes, too.
 */
bool plain_decode(uint64_t address, const uint8_t *bytes, struct instruction *instruction);

#endif
