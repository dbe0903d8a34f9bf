#include "rewriter/patch/stub_kind.h"

#include "trace/image_manifest.h"

static const uint8_t frame[STUB_FRAME_SIZE] = {
    0x48, 0x89, 0x4c, 0x24, 0xe8,          /* mov  [rsp - 24], rcx */
    0x48, 0x8b, 0x0d, 0,    0,    0, 0,    /* mov  rcx, [rip + hook word] */
    0xe3, 0x16,                            /* jrcxz off */
    0x48, 0x89, 0x44, 0x24, 0xf0,          /* mov  [rsp - 16], rax */
    0x48, 0x8d, 0x05, 0x0f, 0,    0, 0,    /* lea  rax, [rip + body] */
    0xff, 0xe1,                            /* jmp  rcx */
    0,    0,    0,    0,    0,    0, 0, 0, /* header, index */
    0x48, 0x8b, 0x4c, 0x24, 0xe8,          /* off: mov rcx, [rsp - 24] */
};

static void put_import(struct stub_segment *stubs, uint64_t slot)
{
    stub_put_relative(stubs, "\xff\x25", 2, slot);
}

static bool is_movable(const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;

    if (at->is_rip_based && zydis->address_width != 64)
        return false;
    /* the call pushes before it jumps: `call rsp` would need the old value */
    return at->flow != FLOW_INDIRECT_CALL || zydis->raw.modrm.mod != 3 ||
           zydis->raw.modrm.rm != 4 || zydis->raw.rex.B;
}

static void put_call(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes)
{
    buffer_append(&stubs->code, "\xe8\x01\x00\x00\x00\xcc\x50", 7);
    stub_put_relative(stubs, "\x48\x8d\x05", 3, at->address + at->length);
    buffer_append(&stubs->code, "\x48\x89\x44\x24\x08\x58", 6);
    if (at->flow == FLOW_CALL)
        stub_put_jump(stubs, at->target);
    else
        stub_put_call_operand(stubs, at, bytes, 8);
}

const struct stub_kind stub_kind_x86_64 = {
    .frame = frame,
    .hook_field = 8,
    .hook_origin = 12,
    .call_rows = {{STUB_CALL_PUSHED, 8}, {STUB_CALL_SAVED, 16}, {STUB_CALL_LEAVING, 8}},
    .call_leaving = STUB_CALL_LEAVING,
    .put_import = put_import,
    .is_movable = is_movable,
    .put_call = put_call,
};
