#include "rewriter/code/decode_plain.h"
#include "rewriter/code/processor.h"
#include "trace/image_manifest.h"

#define MODRM_EBX     3
#define MODRM_ADDRESS 5 /* with mod 0: no register, an address of 32 bits */

/* Every instruction is decoded in full: programs of 32 bits are small. */

static size_t no_length(const uint8_t *bytes, unsigned minds)
{
    (void)bytes;
    (void)minds;
    return 0;
}

static bool never_at_slot(const uint8_t *bytes, bool is_rbp, int64_t offset)
{
    (void)bytes;
    (void)is_rbp;
    (void)offset;
    return false;
}

static bool no_decode(uint64_t address, const uint8_t *bytes, struct instruction *instruction)
{
    (void)address;
    (void)bytes;
    (void)instruction;
    return false;
}

/* `mov reg, [esp]; ret`, of a register but esp: __x86.get_pc_thunk.bx and its like. */
static bool is_pc_thunk(const uint8_t *bytes, size_t size)
{
    return size >= 4 && bytes[0] == 0x8b && (bytes[1] & 0xc7) == 0x04 && bytes[1] != 0x24 &&
           bytes[2] == 0x24 && bytes[3] == 0xc3;
}

/* `jmp [address]` or `jmp [ebx + distance]`. */
static bool is_slot_jump(const struct instruction *at)
{
    uint8_t mod = at->zydis.raw.modrm.mod, rm = at->zydis.raw.modrm.rm;

    return (mod == 0 && rm == MODRM_ADDRESS) || (mod == 2 && rm == MODRM_EBX);
}

const struct processor processor_i386 = {
    .name = "i386",
    .machine_mode = ZYDIS_MACHINE_MODE_LEGACY_32,
    .stack_width = ZYDIS_STACK_WIDTH_32,
    .pointer_size = 4,
    .stub_frame_size = STUB_FRAME_SIZE_I386,
    .is_pc_thunk = is_pc_thunk,
    .is_slot_jump = is_slot_jump,
    .plain_length = no_length,
    .plain_is_at_slot = never_at_slot,
    .plain_decode = no_decode,
};
