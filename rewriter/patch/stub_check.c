#include "rewriter/patch/stub_check.h"

#include <string.h>

#include "rewriter/functions/function_list.h"
#include "trace/image_manifest.h"

#define INT3 0xcc

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
           is_word(stub + 8, targets->hook - (address + 12)) &&
           memcmp(stub + 12, "\xe3\x16\x48\x89\x44\x24\xf0\x48\x8d\x05", 10) == 0 &&
           is_word(stub + 22, body - (address + 26)) && memcmp(stub + 26, "\xff\xe1", 2) == 0 &&
           memcmp(stub + 36, "\x48\x8b\x4c\x24\xe8", 5) == 0 &&
           is_word(stub + STUB_FRAME_SIZE + STUB_HEADER_DISTANCE, targets->header - body) &&
           (is_word(stub + STUB_FRAME_SIZE + STUB_INDEX, index) ||
            is_word(stub + STUB_FRAME_SIZE + STUB_INDEX, index | STUB_LEAF) ||
            is_word(stub + STUB_FRAME_SIZE + STUB_INDEX, index | STUB_TIMED));
}

bool stub_is_jump(const uint8_t *patch, uint64_t address, uint64_t size, uint64_t stub)
{
    if (size < PATCH_JUMP_SIZE || patch[0] != 0xe9 ||
        !is_word(patch + 1, stub - (address + PATCH_JUMP_SIZE)))
        return false;
    for (uint64_t i = PATCH_JUMP_SIZE; i < size; i++)
        if (patch[i] != INT3)
            return false;
    return true;
}
