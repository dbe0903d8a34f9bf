#include "rewriter/code/processor.h"

#include "trace/image_manifest.h"

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

const struct processor processor_i386 = {
    .name = "i386",
    .machine_mode = ZYDIS_MACHINE_MODE_LEGACY_32,
    .stack_width = ZYDIS_STACK_WIDTH_32,
    .pointer_size = 4,
    .stub_frame_size = STUB_FRAME_SIZE_I386,
    .has_rip_operands = false,
    .plain_length = no_length,
    .plain_is_at_slot = never_at_slot,
    .plain_decode = no_decode,
};
