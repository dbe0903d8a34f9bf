#include "rewriter/code/decode_plain.h"
#include "rewriter/code/processor.h"
#include "trace/image_manifest.h"

static bool is_slot_jump(const struct instruction *at)
{
    return at->is_rip_based;
}

const struct processor processor_x86_64 = {
    .name = "x86-64",
    .machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
    .stack_width = ZYDIS_STACK_WIDTH_64,
    .pointer_size = 8,
    .stub_frame_size = STUB_FRAME_SIZE,
    .is_slot_jump = is_slot_jump,
    .plain_length = plain_length,
    .plain_is_at_slot = plain_is_at_slot,
    .plain_decode = plain_decode,
};
