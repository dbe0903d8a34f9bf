#include "rewriter/patch/stub.h"

#include <string.h>

#include "rewriter/code/decode.h"
#include "trace/image_manifest.h"

#define HOOK_FIELD 8  /* in a stub: displacement of `mov rcx, [rip + hook word]` */
#define HOOK_NEXT  12 /* what it is relative to */

static uint64_t here(const struct stub_segment *stubs)
{
    return stubs->address + stubs->code.size;
}

static void put32(struct stub_segment *stubs, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    buffer_append(&stubs->code, &low, sizeof(low));
}

/* `opcode`, then the 32-bit distance from the instruction's end to target. */
static void put_relative(struct stub_segment *stubs, const void *opcode, size_t size,
                         uint64_t target)
{
    buffer_append(&stubs->code, opcode, size);
    put32(stubs, target - (here(stubs) + 4));
}

static void put_jump(struct stub_segment *stubs, uint64_t target)
{
    put_relative(stubs, "\xe9", 1, target);
}

static void move_condition(struct stub_segment *stubs, const struct instruction *at,
                           uint64_t target)
{
    uint8_t opcode[2] = {0x0f, (uint8_t)(0x80 | (at->zydis.opcode & 0x0f))};

    put_relative(stubs, opcode, sizeof(opcode), target);
}

static void move_loop(struct stub_segment *stubs, const struct instruction *at,
                      const uint8_t *bytes, uint64_t target)
{
    buffer_append(&stubs->code, bytes, at->length - 1u);
    buffer_append(&stubs->code, "\x02\xeb\x05", 3);
    put_jump(stubs, target);
}

/* Same bytes, but for a rip-relative operand. */
static void move_copy(struct stub_segment *stubs, const struct instruction *at,
                      const uint8_t *bytes)
{
    size_t from = buffer_append(&stubs->code, bytes, at->length);
    uint32_t displacement;

    if (!at->is_rip_based)
        return;
    displacement = (uint32_t)(at->operand - here(stubs));
    memcpy(stubs->code.bytes + from + at->zydis.raw.disp.offset, &displacement,
           sizeof(displacement));
}

static void put_return_address(struct stub_segment *stubs, uint64_t address)
{
    buffer_append(&stubs->code, "\xe8\x01\x00\x00\x00\xcc\x50", 7);
    put_relative(stubs, "\x48\x8d\x05", 3, address);
    buffer_append(&stubs->code, "\x48\x89\x44\x24\x08\x58", 6);
}

/* `jmp` with the operand of an indirect call, at a stack pointer that is 8 lower. */
static void put_call_operand(struct stub_segment *stubs, const struct instruction *at,
                             const uint8_t *bytes)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    uint8_t modrm_at = zydis->raw.modrm.offset;
    uint8_t modrm = (uint8_t)(bytes[modrm_at] ^ (2 << 3) ^ (4 << 3));
    bool is_stack = zydis->raw.modrm.mod != 3 && zydis->raw.modrm.rm == 4 &&
                    zydis->raw.sib.base == 4 && !zydis->raw.rex.B;

    if (!is_stack) {
        size_t from = stubs->code.size;

        move_copy(stubs, at, bytes);
        stubs->code.bytes[from + modrm_at] = modrm;
        return;
    }
    modrm = (uint8_t)((modrm & 0x3f) | 0x80); /* a 32-bit displacement follows the SIB byte */
    buffer_append(&stubs->code, bytes, modrm_at);
    buffer_append(&stubs->code, &modrm, 1);
    buffer_append(&stubs->code, bytes + modrm_at + 1, 1);
    put32(stubs, (uint64_t)zydis->raw.disp.value + 8);
}

static bool is_movable(const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;

    if (at->flow == FLOW_UNKNOWN)
        return false;
    if (at->is_rip_based && zydis->address_width != 64)
        return false;
    /* the call pushes before it jumps: `call rsp` would need the old value */
    return at->flow != FLOW_INDIRECT_CALL || zydis->raw.modrm.mod != 3 ||
           zydis->raw.modrm.rm != 4 || zydis->raw.rex.B;
}

static bool move(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes,
                 uint64_t target)
{
    if (!is_movable(at))
        return false;
    switch (at->flow) {
    case FLOW_JUMP:
        put_jump(stubs, target);
        break;
    case FLOW_CONDITION:
        move_condition(stubs, at, target);
        break;
    case FLOW_LOOP:
        move_loop(stubs, at, bytes, target);
        break;
    case FLOW_CALL:
        put_return_address(stubs, at->address + at->length);
        put_jump(stubs, target);
        break;
    case FLOW_INDIRECT_CALL:
        put_return_address(stubs, at->address + at->length);
        put_call_operand(stubs, at, bytes);
        break;
    default:
        move_copy(stubs, at, bytes);
        break;
    }
    return true;
}

bool stub_body_append(struct stub_segment *stubs, const struct function *function,
                      const uint8_t *original, bool *is_adjusted, struct stub_moves *moves)
{
    uint64_t body = here(stubs), start = function->address + function->patch_offset;
    size_t end = (size_t)function->patch_offset + function->displaced;
    struct instruction at = {.flow = FLOW_NEXT};
    ZydisDecoder decoder;

    decoder_init(&decoder, stubs->processor);
    *is_adjusted = false;
    for (size_t offset = function->patch_offset; offset < end; offset += at.length) {
        uint64_t target;
        bool is_jump;

        if (moves)
            moves->to[offset - function->patch_offset] = (uint8_t)(here(stubs) - body);
        if (!instruction_decode(&decoder, function->address + offset, original + offset,
                                end - offset, &at))
            return false;
        is_jump = at.flow == FLOW_JUMP || at.flow == FLOW_CONDITION || at.flow == FLOW_LOOP;
        if (moves && (at.flow == FLOW_CALL || at.flow == FLOW_INDIRECT_CALL)) {
            moves->has_call = true;
            moves->call = (uint8_t)(offset - function->patch_offset);
        }
        target = at.target;
        if (is_jump && (target == start || target == function->address))
            target = body;
        if (!move(stubs, &at, original + offset, target))
            return false;
        if (is_jump || at.is_rip_based || at.flow == FLOW_CALL || at.flow == FLOW_INDIRECT_CALL)
            *is_adjusted = true;
    }
    if (moves)
        moves->to[function->displaced] = (uint8_t)(here(stubs) - body);
    if (at.flow != FLOW_END && at.flow != FLOW_JUMP && at.flow != FLOW_INDIRECT_JUMP)
        put_jump(stubs, function->address + end);
    return true;
}

static void put_frame(struct stub_segment *stubs, struct function *function, uint32_t index)
{
    uint64_t body = here(stubs) + STUB_FRAME_SIZE;

    function->stub = (uint32_t)stubs->code.size;
    function->body = function->stub + STUB_FRAME_SIZE;
    buffer_append(&stubs->code, "\x48\x89\x4c\x24\xe8\x48\x8b\x0d", 8);
    put32(stubs, 0);
    buffer_append(&stubs->code, "\xe3\x16\x48\x89\x44\x24\xf0", 7);
    put_relative(stubs, "\x48\x8d\x05", 3, body);
    buffer_append(&stubs->code, "\xff\xe1", 2);
    put32(stubs, 0);
    put32(stubs, index);
    buffer_append(&stubs->code, "\x48\x8b\x4c\x24\xe8", 5);
}

void stub_append_import(struct stub_segment *stubs, struct function *import, uint32_t index)
{
    put_frame(stubs, import, import->is_timed ? index | STUB_TIMED : index);
    put_relative(stubs, "\xff\x25", 2, import->address);
}

bool stub_append(struct stub_segment *stubs, struct function *function, const uint8_t *original,
                 uint32_t index, struct stub_moves *moves)
{
    bool is_adjusted;

    put_frame(stubs, function,
              function->is_timed  ? index | STUB_TIMED
              : function->is_leaf ? index | STUB_LEAF
                                  : index);
    if (moves && moves->is_copied) {
        buffer_append(&stubs->code, "\x3e", STUB_COPY_JUMP);
        put_jump(stubs, here(stubs));
        return true;
    }
    return stub_body_append(stubs, function, original, &is_adjusted, moves);
}

void stub_bind(struct stub_segment *stubs, const struct function *function,
               const struct stub_targets *targets)
{
    uint8_t *stub = stubs->code.bytes + function->stub;
    uint64_t address = stubs->address + function->stub;
    uint32_t displacement = (uint32_t)(targets->hook - (address + HOOK_NEXT));
    uint32_t distance = (uint32_t)(targets->header - (address + STUB_FRAME_SIZE));

    memcpy(stub + HOOK_FIELD, &displacement, sizeof(displacement));
    memcpy(stub + STUB_FRAME_SIZE + STUB_HEADER_DISTANCE, &distance, sizeof(distance));
}

static bool is_word(const uint8_t *at, uint64_t value)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return word == (uint32_t)value;
}

bool stub_is_frame(const uint8_t *stub, uint64_t address, const struct stub_targets *targets,
                   uint32_t index)
{
    uint64_t body = address + STUB_FRAME_SIZE;

    return memcmp(stub, "\x48\x89\x4c\x24\xe8\x48\x8b\x0d", 8) == 0 &&
           is_word(stub + HOOK_FIELD, targets->hook - (address + HOOK_NEXT)) &&
           memcmp(stub + HOOK_NEXT, "\xe3\x16\x48\x89\x44\x24\xf0\x48\x8d\x05", 10) == 0 &&
           is_word(stub + 22, body - (address + 26)) && memcmp(stub + 26, "\xff\xe1", 2) == 0 &&
           memcmp(stub + 36, "\x48\x8b\x4c\x24\xe8", 5) == 0 &&
           is_word(stub + STUB_FRAME_SIZE + STUB_HEADER_DISTANCE, targets->header - body) &&
           (is_word(stub + STUB_FRAME_SIZE + STUB_INDEX, index) ||
            is_word(stub + STUB_FRAME_SIZE + STUB_INDEX, index | STUB_LEAF) ||
            is_word(stub + STUB_FRAME_SIZE + STUB_INDEX, index | STUB_TIMED));
}
