#include "rewriter/copy/copy_jumps.h"

#include "rewriter/code/decode_plain.h"

bool copy_read_next(const ZydisDecoder *decoder, const uint8_t *bytes, size_t room,
                    struct instruction *at)
{
    at->flow = FLOW_NEXT;
    at->skips_lock = false;
    at->length = room >= PLAIN_ROOM ? (uint8_t)plain_length(bytes, 0) : 0;
    if (at->length)
        return true;
    if (room >= PLAIN_ROOM && plain_decode(at->address, bytes, at)) {
        at->zydis.opcode = *bytes;
        return true;
    }
    if (!instruction_decode(decoder, at->address, bytes, room, at))
        return false;
    if (at->skips_lock) /* to the same instruction, in any case */
        at->flow = FLOW_NEXT;
    return true;
}

bool copy_is_direct_jump(const struct instruction *at)
{
    return at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION || at->flow == FLOW_LOOP;
}

void copy_jumps_each(const struct code *code, const struct function *function,
                     void (*visit)(void *user, uint64_t target), void *user)
{
    struct instruction at = {.address = function->address};
    ZydisDecoder decoder;
    size_t room;
    const uint8_t *bytes = code_at(code, function->address, &room);

    decoder_init(&decoder, &processor_x86_64);
    for (; at.address < function->end; at.address += at.length) {
        if (!copy_read_next(&decoder, bytes + (at.address - function->address),
                            function->end - at.address, &at))
            return;
        if (copy_is_direct_jump(&at))
            visit(user, at.target);
    }
}
