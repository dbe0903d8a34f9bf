#include "rewriter/flow/flow_imports.h"

#include <string.h>

#include "support/sorted.h"

#define PLT_INSTRUCTIONS 2 /* that a jump through a slot is among */

#define X86_JUMP_SLOT      "\xff\x25" /* jmp [rip + n] */
#define X86_JUMP_SLOT_SIZE 6

uint64_t flow_stub_slot(const struct flow_source *source, const ZydisDecoder *decoder,
                        uint64_t address)
{
    const struct function *function = function_list_below(source->functions, address);
    struct instruction at;
    const uint8_t *bytes;
    int32_t distance;
    size_t room;

    if (!function || function->reason != PATCH_PLT)
        return 0;
    bytes = code_at(source->code, address, &room);
    if (!bytes)
        return 0;
    if (room >= X86_JUMP_SLOT_SIZE && memcmp(bytes, X86_JUMP_SLOT, 2) == 0) { /* as most are */
        memcpy(&distance, bytes + 2, sizeof(distance));
        return address + X86_JUMP_SLOT_SIZE + (uint64_t)(int64_t)distance;
    }
    for (int i = 0; i < PLT_INSTRUCTIONS; i++) {
        if (!instruction_decode(decoder, address, bytes, room, &at))
            return 0;
        if (at.flow == FLOW_INDIRECT_JUMP && at.is_rip_based)
            return at.operand;
        address += at.length;
        bytes += at.length;
        room -= at.length;
    }
    return 0;
}

const struct flow_import *flow_import_at(const struct flow_source *source, uint64_t slot)
{
    size_t place = partition_point(i, source->import_count, source->imports[i].slot < slot);

    return place < source->import_count && source->imports[place].slot == slot
               ? &source->imports[place]
               : NULL;
}
