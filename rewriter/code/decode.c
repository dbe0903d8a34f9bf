#include "rewriter/code/decode.h"

#define RIP_MODRM_RM 5
#define SIB_MODRM_RM 4

#define SIB_NO_INDEX 4

void decoder_init(ZydisDecoder *decoder, const struct processor *processor)
{
    ZydisDecoderInit(decoder, processor->machine_mode, processor->stack_width);
    ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
}

/* Opcode FF: /2 call, /4 jmp, /3 and /5 their far forms, else no branch. */
static enum flow_kind group_flow(uint8_t reg)
{
    switch (reg) {
    case 2:
        return FLOW_INDIRECT_CALL;
    case 4:
        return FLOW_INDIRECT_JUMP;
    case 3:
    case 5:
        return FLOW_UNKNOWN;
    default:
        return FLOW_NEXT;
    }
}

static bool is_of_32_bits(const ZydisDecodedInstruction *zydis)
{
    return zydis->machine_mode == ZYDIS_MACHINE_MODE_LEGACY_32;
}

static enum flow_kind one_byte_flow(const ZydisDecodedInstruction *zydis)
{
    uint8_t opcode = zydis->opcode;

    if ((opcode & 0xf0) == 0x70)
        return FLOW_CONDITION;
    switch (opcode) {
    case 0xe0: /* loopne */
    case 0xe1: /* loope */
    case 0xe2: /* loop */
    case 0xe3: /* jrcxz */
        return FLOW_LOOP;
    case 0xe8:
        return FLOW_CALL;
    case 0xe9:
    case 0xeb:
        return FLOW_JUMP;
    case 0xc2: /* ret n */
    case 0xc3: /* ret */
    case 0xca: /* far ret n */
    case 0xcb: /* far ret */
    case 0xcf: /* iret */
    case 0xf4: /* hlt */
        return FLOW_END;
    case 0x9a: /* far call */
    case 0xea: /* far jmp */
        return FLOW_UNKNOWN;
    case 0xff:
        return group_flow(zydis->raw.modrm.reg);
    default:
        return FLOW_NEXT;
    }
}

static enum flow_kind flow_of(const ZydisDecodedInstruction *zydis)
{
    enum flow_kind flow = FLOW_NEXT;

    if (zydis->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return FLOW_NEXT;
    if (zydis->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
        flow = one_byte_flow(zydis);
    else if (zydis->opcode_map == ZYDIS_OPCODE_MAP_0F && (zydis->opcode & 0xf0) == 0x80)
        flow = FLOW_CONDITION;
    else if (zydis->opcode_map == ZYDIS_OPCODE_MAP_0F && zydis->opcode == 0x0b)
        flow = FLOW_END; /* ud2 */
    if (flow == FLOW_NEXT && zydis->raw.imm[0].is_relative)
        flow = FLOW_UNKNOWN; /* xbegin */
    if (is_of_32_bits(zydis) && zydis->raw.imm[0].is_relative && zydis->raw.imm[0].size == 16)
        flow = FLOW_UNKNOWN; /* takes the upper half of eip away */
    return flow;
}

bool instruction_decode(const ZydisDecoder *decoder, uint64_t address, const uint8_t *bytes,
                        size_t size, struct instruction *instruction)
{
    ZydisDecodedInstruction *zydis = &instruction->zydis;
    uint64_t next;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, bytes, size, zydis)))
        return false;
    next = address + zydis->length;
    instruction->address = address;
    instruction->length = zydis->length;
    instruction->flow = (uint8_t)flow_of(zydis);
    instruction->target = 0;
    instruction->is_near = false;
    if (zydis->raw.imm[0].is_relative) {
        instruction->target = next + (uint64_t)zydis->raw.imm[0].value.s;
        instruction->is_near = zydis->raw.imm[0].size == 32;
        if (is_of_32_bits(zydis))
            instruction->target &= UINT32_MAX;
    }
    instruction->skips_lock = bytes_skip_lock(bytes, size);
    if (instruction->skips_lock)
        instruction->target = next;
    instruction->is_rip_based = !is_of_32_bits(zydis) &&
                                zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
                                zydis->raw.modrm.mod == 0 && zydis->raw.modrm.rm == RIP_MODRM_RM;
    instruction->operand = 0;
    if (instruction->is_rip_based)
        instruction->operand = next + (uint64_t)zydis->raw.disp.value;
    instruction->is_lea = zydis->mnemonic == ZYDIS_MNEMONIC_LEA;
    return true;
}

/* Instructions of one byte, or with a register as operand, that may all the same. */
static bool opcode_may_fault(const ZydisDecodedInstruction *zydis)
{
    uint8_t opcode = zydis->opcode;

    if (zydis->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
        return zydis->opcode_map == ZYDIS_OPCODE_MAP_0F && opcode == 0x0b; /* ud2 */
    return (opcode >= 0x6c && opcode <= 0x6f) ||                           /* ins, outs */
           (opcode >= 0xa0 && opcode <= 0xa7) || /* mov of an absolute address; movs, cmps */
           (opcode >= 0xaa && opcode <= 0xaf) || /* stos, lods, scas */
           (opcode >= 0xcc && opcode <= 0xce) || /* int */
           (opcode >= 0xe4 && opcode <= 0xe7) || /* in, out */
           (opcode >= 0xec && opcode <= 0xf4) || /* in, out by dx; int1, hlt */
           opcode == 0xfa || opcode == 0xfb ||   /* cli, sti */
           ((opcode == 0xf6 || opcode == 0xf7) && zydis->raw.modrm.reg >= 6); /* div, idiv */
}

bool instruction_may_fault(const struct instruction *instruction)
{
    const ZydisDecodedInstruction *zydis = &instruction->zydis;
    bool is_stack = zydis->raw.modrm.rm == 4 && zydis->raw.sib.base == 4 && !zydis->raw.rex.B &&
                    zydis->raw.sib.index == 4;

    if (instruction->flow == FLOW_CALL || instruction->is_lea ||
        zydis->mnemonic == ZYDIS_MNEMONIC_NOP)
        return false;
    if (zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM && zydis->raw.modrm.mod != 3 && !is_stack)
        return true;
    return zydis->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || opcode_may_fault(zydis);
}

/* `mov reg, reg` or `lea reg, [reg + 0]` of one register of 32 bits. */
static bool is_idle_move(const ZydisDecodedInstruction *zydis)
{
    unsigned rm = zydis->raw.modrm.rm;

    if (zydis->operand_width != 32 || zydis->address_width != 32)
        return false;
    if (zydis->mnemonic == ZYDIS_MNEMONIC_MOV)
        return (zydis->opcode == 0x89 || zydis->opcode == 0x8b) && zydis->raw.modrm.mod == 3 &&
               zydis->raw.modrm.reg == rm;
    if (zydis->mnemonic != ZYDIS_MNEMONIC_LEA || zydis->raw.disp.value != 0 ||
        (zydis->raw.modrm.mod == 0 && rm == RIP_MODRM_RM))
        return false;
    if (rm != SIB_MODRM_RM)
        return zydis->raw.modrm.reg == rm;
    return zydis->raw.sib.index == SIB_NO_INDEX && zydis->raw.sib.base == zydis->raw.modrm.reg &&
           !(zydis->raw.modrm.mod == 0 && zydis->raw.sib.base == RIP_MODRM_RM);
}

bool instruction_is_padding(const struct instruction *instruction)
{
    const ZydisDecodedInstruction *zydis = &instruction->zydis;

    return zydis->mnemonic == ZYDIS_MNEMONIC_NOP || zydis->mnemonic == ZYDIS_MNEMONIC_INT3 ||
           (is_of_32_bits(zydis) && is_idle_move(zydis));
}

bool instruction_is_landing(const struct instruction *instruction)
{
    return instruction->zydis.mnemonic ==
           (is_of_32_bits(&instruction->zydis) ? ZYDIS_MNEMONIC_ENDBR32 : ZYDIS_MNEMONIC_ENDBR64);
}

bool instruction_is_return(const struct instruction *instruction)
{
    return instruction->flow == FLOW_END && (instruction->zydis.opcode & 0xfe) == 0xc2;
}
