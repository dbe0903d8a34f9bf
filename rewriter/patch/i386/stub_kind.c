#include "rewriter/patch/stub_kind.h"

#include "trace/image_manifest.h"

#define HOOK_ORIGIN 7 /* in a stub: what eax is there */

#define CALL_LANDING 6 /* in a displaced call: where the call in it goes */
#define CALL_SAVED   7
#define CALL_LEAVING 22

static const uint8_t frame[STUB_FRAME_SIZE_I386] = {
    0x51,                            /* push ecx */
    0x50,                            /* push eax */
    0xe8, 0,    0,    0, 0,          /* call +0 */
    0x58,                            /* pop  eax */
    0x8b, 0x88, 0,    0, 0, 0,       /* mov  ecx, [eax + hook word] */
    0xe3, 0x0d,                      /* jecxz off */
    0x8d, 0x40, 0x1b,                /* lea  eax, [eax + body] */
    0xff, 0xe1,                      /* jmp  ecx */
    0,    0,    0,    0, 0, 0, 0, 0, /* header, index */
    0x58,                            /* off: pop eax */
    0x59,                            /* pop  ecx */
    0x0f, 0x1f, 0,                   /* nop */
};

/* `call esp` would need the old value, as the call pushes before it jumps. */
static bool is_movable(const struct instruction *at)
{
    return at->flow != FLOW_INDIRECT_CALL || at->zydis.raw.modrm.mod != 3 ||
           at->zydis.raw.modrm.rm != 4;
}

/* `call +0` is no call to the processor's return-stack predictor: neither is what stands for it. */
static void put_return_address(struct stub_segment *stubs, const struct instruction *at)
{
    bool is_next = at->flow == FLOW_CALL && at->target == at->address + at->length;
    uint64_t pushed = stub_here(stubs) + (is_next ? CALL_LANDING : CALL_LANDING - 1);

    buffer_append(&stubs->code, is_next ? "\x90\xe8\x00\x00\x00\x00" : "\xe8\x01\x00\x00\x00\xcc",
                  CALL_LANDING);
    buffer_append(&stubs->code, "\x50\x8b\x44\x24\x04\x8d\x80", 7);
    stub_put32(stubs, at->address + at->length - pushed);
    buffer_append(&stubs->code, "\x89\x44\x24\x04\x58", 5);
}

/* `call +0; pop reg; lea reg, [reg + distance]`: a thunk's return would not be where the predictor
 * has it. */
static void put_pc(struct stub_segment *stubs, const struct instruction *at, const uint8_t *thunk)
{
    uint8_t reg = thunk[1] >> 3 & 7, code[] = {0x58 | reg, 0x8d, (uint8_t)(0x80 | reg << 3 | reg)};
    uint64_t here;

    buffer_append(&stubs->code, "\xe8\x00\x00\x00\x00", 5);
    here = stub_here(stubs);
    buffer_append(&stubs->code, code, sizeof(code));
    stub_put32(stubs, at->address + at->length - here);
}

static void put_call(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes)
{
    put_return_address(stubs, at);
    if (at->flow == FLOW_CALL)
        stub_put_jump(stubs, at->target);
    else
        stub_put_call_operand(stubs, at, bytes, 4);
}

const struct stub_kind stub_kind_i386 = {
    .frame = frame,
    .hook_field = 10,
    .hook_origin = HOOK_ORIGIN,
    .frame_rows = {{1, 4}, {2, 8}, {7, 12}, {8, 8}, {30, 4}, {31, 0}},
    .call_rows = {{CALL_LANDING, 4}, {CALL_SAVED, 8}, {CALL_LEAVING, 4}},
    .call_leaving = CALL_LEAVING,
    .is_movable = is_movable,
    .put_pc = put_pc,
    .put_call = put_call,
};
