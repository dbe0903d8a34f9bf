#include "rewriter/code.h"

#define LONGEST_LEAF 1024 /* bytes */

#define X86_REPNE 0xf2
#define X86_REP   0xf3

/* movs, cmps, stos, lods, scas, ins, outs: as long as rcx says, with a prefix. */
static bool is_repeated(const ZydisDecodedInstruction *zydis)
{
    uint8_t opcode = zydis->opcode;
    bool is_string = (opcode >= 0xa4 && opcode <= 0xaf && opcode != 0xa8 && opcode != 0xa9) ||
                     (opcode >= 0x6c && opcode <= 0x6f);

    if (zydis->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || !is_string)
        return false;
    for (uint8_t i = 0; i < zydis->raw.prefix_count; i++)
        if (zydis->raw.prefixes[i].value == X86_REP || zydis->raw.prefixes[i].value == X86_REPNE)
            return true;
    return false;
}

static bool leaves_to_the_system(const ZydisDecodedInstruction *zydis)
{
    switch (zydis->mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_OUT:
        return true;
    default:
        return false;
    }
}

static bool goes_forward(const struct leaf_check *check, const struct instruction *at)
{
    return at->target > at->address && at->target < check->end;
}

void leaf_check_add(struct leaf_check *check, const struct instruction *at)
{
    if (instruction_is_padding(at))
        return;
    switch (at->flow) {
    case FLOW_NEXT:
        check->is_closed = false;
        check->is_broken |= is_repeated(&at->zydis) || leaves_to_the_system(&at->zydis);
        return;
    case FLOW_CONDITION:
        check->is_closed = false;
        check->is_broken |= !goes_forward(check, at);
        return;
    case FLOW_JUMP:
        check->is_closed = true;
        check->is_broken |= !goes_forward(check, at);
        return;
    case FLOW_END:
        check->is_closed = true;
        return;
    default:
        check->is_broken = true;
        return;
    }
}

bool leaf_check_holds(const struct leaf_check *check)
{
    return !check->is_broken && check->is_closed && check->end - check->start <= LONGEST_LEAF;
}
