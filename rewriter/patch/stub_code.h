/* Code that is put together for stubs. */
#ifndef UMBRA_REWRITER_STUB_CODE_H
#define UMBRA_REWRITER_STUB_CODE_H

#include "rewriter/base/buffer.h"
#include "rewriter/code/code.h"
#include "rewriter/code/decode.h"

/* Stubs, one behind the other, and where they will be; patch_stubs_append sets processor and image. */
struct stub_segment {
    const struct processor *processor;
    const struct code *image; /* of the functions; null: what these call is not looked at */
    struct buffer code;
    uint64_t address;
};

/* Address of the next byte. */
uint64_t stub_here(const struct stub_segment *stubs);
void stub_put32(struct stub_segment *stubs, uint64_t value);
/* `opcode`, then the 32-bit distance from the instruction's end to target. */
void stub_put_relative(struct stub_segment *stubs, const void *opcode, size_t size,
                       uint64_t target);
void stub_put_jump(struct stub_segment *stubs, uint64_t target);
/* Same bytes, but for a rip-relative operand. */
void stub_put_same(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes);
/* `jmp` with the operand of an indirect call, at a stack pointer that is `lower` bytes lower. */
void stub_put_call_operand(struct stub_segment *stubs, const struct instruction *at,
                           const uint8_t *bytes, uint8_t lower);

#endif
