#include "rewriter/code/code_leaf.h"

#include "rewriter/code/decode_plain.h"

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

static bool is_system_instruction(const ZydisDecodedInstruction *zydis)
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

static bool is_forward(const struct leaf_check *check, const struct instruction *at)
{
    return at->target > at->address && at->target < check->end;
}

static void add_flow(struct leaf_check *check, const struct instruction *at)
{
    switch (at->flow) {
    case FLOW_NEXT:
        check->is_closed = false;
        return;
    case FLOW_CONDITION:
        check->is_closed = false;
        check->is_broken |= !is_forward(check, at);
        return;
    case FLOW_JUMP:
        check->is_closed = true;
        check->is_broken |= !is_forward(check, at);
        return;
    case FLOW_END:
        check->is_closed = true;
        return;
    default:
        check->is_broken = true;
        return;
    }
}

void leaf_check_add(struct leaf_check *check, const struct instruction *at)
{
    if (instruction_is_padding(at))
        return;
    add_flow(check, at);
    if (at->flow == FLOW_NEXT)
        check->is_broken |= is_repeated(&at->zydis) || is_system_instruction(&at->zydis);
}

/* Bytes of an instruction that is work and nothing else, as far as its first byte can tell: no
   prefix, no padding, nothing of the second opcode map. 0 if it takes a closer look. */
static size_t work_length(const struct processor *processor, const uint8_t *bytes, size_t room)
{
    switch (bytes[0]) {
    case 0x0f:
    case 0x66:
    case 0x90:
    case 0xcc:
    case 0xcd:
    case X86_REPNE:
    case X86_REP:
        return 0;
    default:
        return room < PLAIN_ROOM || bytes[0] >= 0xe0 ? 0 : processor->plain_length(bytes, 0);
    }
}

bool code_is_leaf(const struct processor *processor, uint64_t start, uint64_t end,
                  const uint8_t *bytes)
{
    struct leaf_check check = {.start = start, .end = end};
    struct instruction at;
    ZydisDecoder decoder;

    if (end - start > LONGEST_LEAF)
        return false;
    decoder_init(&decoder, processor);
    for (uint64_t address = start; address < end && !check.is_broken;) {
        const uint8_t *here = bytes + (address - start);
        size_t length = work_length(processor, here, end - address);

        if (length) {
            check.is_closed = false;
            address += length;
            continue;
        }
        if (end - address >= PLAIN_ROOM && processor->plain_decode(address, here, &at))
            add_flow(&check, &at);
        else if (instruction_decode(&decoder, address, here, end - address, &at))
            leaf_check_add(&check, &at);
        else
            return false;
        address += at.length;
    }
    return leaf_check_is_leaf(&check);
}

bool leaf_check_is_leaf(const struct leaf_check *check)
{
    return !check->is_broken && check->is_closed && check->end - check->start <= LONGEST_LEAF;
}
