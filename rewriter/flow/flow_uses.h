/*
 * Which general registers an instruction reads and writes: rax 1, rcx 2, rdx 4, rbx 8 and so on, as
 * instructions encode them. Of those that a callee need not keep only; the others, which somebody
 * always needs, are never told of.
 */
#ifndef UMBRA_REWRITER_FLOW_USES_H
#define UMBRA_REWRITER_FLOW_USES_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGISTER_RAX 0x0001u
#define REGISTER_RCX 0x0002u
#define REGISTER_RDX 0x0004u
#define REGISTER_RSI 0x0040u
#define REGISTER_RDI 0x0080u
#define REGISTER_R8  0x0100u
#define REGISTER_R9  0x0200u
#define REGISTER_R10 0x0400u
#define REGISTER_R11 0x0800u

#define REGISTERS_FREE                                                                             \
    (REGISTER_RAX | REGISTER_RCX | REGISTER_RDX | REGISTER_RSI | REGISTER_RDI | REGISTER_R8 |      \
     REGISTER_R9 | REGISTER_R10 | REGISTER_R11)

struct flow_uses {
    uint16_t reads;  /* perhaps */
    uint16_t writes; /* certainly, and all 64 bits */
};

/* What an instruction uses whose plain_length is not 0; false if it has to be decoded. */
bool flow_uses_plain(const uint8_t *bytes, struct flow_uses *uses);

/* What any instruction uses, by a decoder that is not minimal. What is not understood reads all. A
   branch has what the instruction itself reads. */
struct flow_uses flow_uses_decode(const ZydisDecoder *decoder, const uint8_t *bytes, size_t size);

#endif
