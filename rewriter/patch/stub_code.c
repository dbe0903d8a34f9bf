#include "rewriter/patch/stub_code.h"

#include <string.h>

uint64_t stub_here(const struct stub_segment *stubs)
{
    return stubs->address + stubs->code.size;
}

void stub_put32(struct stub_segment *stubs, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    buffer_append(&stubs->code, &low, sizeof(low));
}

void stub_put_relative(struct stub_segment *stubs, const void *opcode, size_t size, uint64_t target)
{
    buffer_append(&stubs->code, opcode, size);
    stub_put32(stubs, target - (stub_here(stubs) + 4));
}

void stub_put_jump(struct stub_segment *stubs, uint64_t target)
{
    stub_put_relative(stubs, "\xe9", 1, target);
}

void stub_put_same(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes)
{
    size_t from = buffer_append(&stubs->code, bytes, at->length);
    uint32_t displacement;

    if (!at->is_rip_based)
        return;
    displacement = (uint32_t)(at->operand - stub_here(stubs));
    memcpy(stubs->code.bytes + from + at->zydis.raw.disp.offset, &displacement,
           sizeof(displacement));
}

void stub_put_call_operand(struct stub_segment *stubs, const struct instruction *at,
                           const uint8_t *bytes, uint8_t lower)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    uint8_t modrm_at = zydis->raw.modrm.offset;
    uint8_t modrm = (uint8_t)(bytes[modrm_at] ^ (2 << 3) ^ (4 << 3));
    bool is_stack = zydis->raw.modrm.mod != 3 && zydis->raw.modrm.rm == 4 &&
                    zydis->raw.sib.base == 4 && !zydis->raw.rex.B;

    if (!is_stack) {
        size_t from = stubs->code.size;

        stub_put_same(stubs, at, bytes);
        stubs->code.bytes[from + modrm_at] = modrm;
        return;
    }
    modrm = (uint8_t)((modrm & 0x3f) | 0x80); /* a 32-bit displacement follows the SIB byte */
    buffer_append(&stubs->code, bytes, modrm_at);
    buffer_append(&stubs->code, &modrm, 1);
    buffer_append(&stubs->code, bytes + modrm_at + 1, 1);
    stub_put32(stubs, (uint64_t)zydis->raw.disp.value + lower);
}
