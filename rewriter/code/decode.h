/* Instructions as the rewriter sees them: how long, where control goes next, what they refer to. */
#ifndef UMBRA_REWRITER_DECODE_H
#define UMBRA_REWRITER_DECODE_H

#include "rewriter/code/processor.h"

enum flow_kind {
    FLOW_NEXT,          /* on to what follows */
    FLOW_JUMP,          /* to target */
    FLOW_CONDITION,     /* to target or on */
    FLOW_LOOP, /* to target or on, by loop, jrcxz or jecxz: 8-bit displacements only */
    FLOW_CALL,          /* to target */
    FLOW_INDIRECT_CALL, /* through a register or memory */
    FLOW_INDIRECT_JUMP,
    FLOW_END,     /* ret, ud2, hlt */
    FLOW_UNKNOWN, /* far transfers, transactions, branches of 16 bits */
};

/*
 * The C library jumps over a lock prefix where the process has one thread:
 *
 *      74 01           je   skip
 *      f0              lock
 *      48 0f b1 19     skip: cmpxchg [rcx], rbx
 *
 * Such a branch has the whole instruction for a target, whose effects are the same, and `skips_lock`.
 */
struct instruction {
    uint64_t address;
    uint64_t target; /* of a direct branch */
    uint8_t length;
    uint8_t flow;      /* enum flow_kind */
    bool is_near;      /* direct branch with a 32-bit displacement, at its end */
    bool is_lea;       /* with a target address if it is rip-relative */
    bool skips_lock;
    bool is_rip_based; /* has an operand [rip + ...], whose address is `operand` */
    uint64_t operand;
    ZydisDecodedInstruction zydis; /* decoded in minimal mode */
};

void decoder_init(ZydisDecoder *decoder, const struct processor *processor);

/* False if the bytes are no instruction or end in one. */
bool instruction_decode(const ZydisDecoder *decoder, uint64_t address, const uint8_t *bytes,
                        size_t size, struct instruction *instruction);

/* Whether it is a conditional branch over a lock prefix; `size` bytes are there. */
static inline bool bytes_skip_lock(const uint8_t *bytes, size_t size)
{
    return size > 2 && (bytes[0] & 0xf0) == 0x70 && bytes[1] == 1 && bytes[2] == 0xf0;
}

/* Whether it may raise an exception, other than by using the stack. */
bool instruction_may_fault(const struct instruction *instruction);

/* Whether it is a near return. Of what is decoded, `zydis` has to have the opcode. */
bool instruction_is_return(const struct instruction *instruction);

/* int3, or a nop of any length: what compilers fill gaps with. In code of 32 bits, so are
   `lea esi, [esi + 0]` and `mov edi, edi`. */
bool instruction_is_padding(const struct instruction *instruction);

/* endbr64, or endbr32 in code of 32 bits: what indirect branches may lead to. */
bool instruction_is_landing(const struct instruction *instruction);

#endif
