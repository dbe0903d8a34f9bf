/*
 * The plain instructions of decode_plain.c, in the order of its tables:
 *
 *      .  to be decoded                      n  nothing
 *      x  reads both operands                a  reads rax
 *      z  reads both, or clears a register   q  reads rax, writes rdx
 *      l  reads r/m, writes reg              u  push: reads the opcode's
 *      e  reads an address, writes reg       o  pop: writes the opcode's
 *      s  reads reg, writes r/m              i  writes the opcode's
 *      m  writes r/m                         v  reads an address
 *      g  reads r/m                          f  a group: mul, div, test, not, neg
 *      c  reads r/m and rcx
 *
 * A capital stands for what its small letter does with 8 bits, which leave the rest of a register
 * as it is; B: reads 8 bits of r/m, writes reg.
 */
#include "rewriter/flow/flow_uses.h"

#define PREFIX_WORD  0x66
#define PREFIX_REPNE 0xf2
#define PREFIX_REP   0xf3
#define TWO_BYTES    0x0f

#define REX   0x40
#define REX_R 0x04
#define REX_X 0x02
#define REX_B 0x01

#define RM_SIB   4
#define RM_RIP   5 /* with mod 0, else rbp */
#define SIB_NONE 5 /* with mod 0 */
#define NO_INDEX 4

static const char one_byte[257] = "XxXxaa..XxXxaa.."  /* 00: add, or */
                                  "XxXxaa..XxXxaa.."  /* 10: adc, sbb */
                                  "XxXxaa..XzXzaa.."  /* 20: and, sub */
                                  "XzXzaa..XxXxaa.."  /* 30: xor, cmp */
                                  "................"  /* 40 */
                                  "uuuuuuuuoooooooo"  /* 50: push, pop */
                                  "...l.....l.l...."  /* 60: movsxd, imul */
                                  "................"  /* 70 */
                                  "Gg.gXxXxSsLl.e.."  /* 80: of the above; test, xchg, mov, lea */
                                  "n.......aq......"  /* 90: nop, cdqe, cqo */
                                  "........aa......"  /* a0: test */
                                  "nnnnnnnniiiiiiii"  /* b0: mov */
                                  "Gg....Mm.n..n..."  /* c0: shifts, mov, leave, int3 */
                                  "GgCc............"  /* d0: shifts */
                                  "................"  /* e0 */
                                  "......Ff......Gg"; /* f0: test, not, neg, mul, inc, dec, push */

static const char two_bytes[257] = "................"  /* 00 */
                                   "vv.............n"  /* 10: movups, nop */
                                   "........vv....vv"  /* 20: movaps, ucomiss, comiss */
                                   "................"  /* 30 */
                                   "xxxxxxxxxxxxxxxx"  /* 40: cmov */
                                   "....vvvvvv..v.v."  /* 50: andps to xorps, addps, ... divps */
                                   "...............v"  /* 60: movq, movdqa */
                                   "...............v"  /* 70: movq, movdqa */
                                   "................"  /* 80 */
                                   "vvvvvvvvvvvvvvvv"  /* 90: set */
                                   "...............x"  /* a0: imul */
                                   "......Bl......Bl"  /* b0: movzx, movsx */
                                   "................"  /* c0 */
                                   "................"  /* d0 */
                                   "...............v"  /* e0: pxor */
                                   "................"; /* f0 */

struct plain {
    const uint8_t *modrm;
    uint8_t opcode, rex;
    bool is_word, has_rex, is_byte;
};

static uint16_t bit(unsigned reg)
{
    return (uint16_t)(1u << reg);
}

/* A register of 8 bits: without REX, 4 to 7 are ah to bh. */
static uint16_t bit_of(const struct plain *plain, unsigned reg)
{
    return bit(plain->is_byte && !plain->has_rex ? reg & 3 : reg);
}

static unsigned reg_number(const struct plain *plain)
{
    return (*plain->modrm >> 3 & 7) | (plain->rex & REX_R ? 8 : 0);
}

static unsigned rm_number(const struct plain *plain)
{
    return (*plain->modrm & 7) | (plain->rex & REX_B ? 8 : 0);
}

static bool has_memory(const struct plain *plain)
{
    return *plain->modrm >> 6 != 3;
}

static uint16_t address_reads(const struct plain *plain)
{
    unsigned mod = *plain->modrm >> 6, rm = *plain->modrm & 7, high = plain->rex & REX_B ? 8 : 0;
    unsigned sib = plain->modrm[1], index = (sib >> 3 & 7) | (plain->rex & REX_X ? 8 : 0);
    uint16_t reads = 0;

    if (mod == 3 || (mod == 0 && rm == RM_RIP))
        return 0;
    if (rm != RM_SIB)
        return bit(rm | high);
    if (index != NO_INDEX)
        reads |= bit(index);
    if (mod != 0 || (sib & 7) != SIB_NONE)
        reads |= bit((sib & 7) | high);
    return reads;
}

static uint16_t rm_reads(const struct plain *plain)
{
    return has_memory(plain) ? address_reads(plain) : bit_of(plain, rm_number(plain));
}

/* A write of 16 bits or less leaves the rest of the register. */
static uint16_t written(const struct plain *plain, unsigned reg)
{
    return plain->is_word || plain->is_byte ? 0 : bit(reg);
}

static struct flow_uses both(const struct plain *plain, bool may_clear)
{
    if (may_clear && !has_memory(plain) && !plain->is_byte && !plain->is_word &&
        reg_number(plain) == rm_number(plain))
        return (struct flow_uses){0, bit(rm_number(plain))};
    return (struct flow_uses){bit_of(plain, reg_number(plain)) | rm_reads(plain), 0};
}

static struct flow_uses store(const struct plain *plain, uint16_t reads)
{
    if (has_memory(plain))
        return (struct flow_uses){reads | address_reads(plain), 0};
    return (struct flow_uses){reads, written(plain, rm_number(plain))};
}

/* f6, f7: test, not, neg; mul, imul; div, idiv. */
static struct flow_uses group_uses(const struct plain *plain)
{
    unsigned which = *plain->modrm >> 3 & 7;
    struct flow_uses uses = {rm_reads(plain), 0};

    if (which >= 4)
        uses.reads |= REGISTER_RAX;
    if (which >= 6 && !plain->is_byte)
        uses.reads |= REGISTER_RDX;
    else if (which >= 4)
        uses.writes = written(plain, 2);
    return uses;
}

static struct flow_uses load(const struct plain *plain, uint16_t reads)
{
    return (struct flow_uses){reads, plain->is_word ? 0 : bit(reg_number(plain))};
}

static bool uses_of(struct plain *plain, char effect, struct flow_uses *uses)
{
    unsigned reg = (plain->opcode & 7) | (plain->rex & REX_B ? 8 : 0);

    plain->is_byte = effect >= 'A' && effect <= 'Z';
    *uses = (struct flow_uses){0};
    switch (effect) {
    case 'n':
        return plain->opcode != 0x90 || !(plain->rex & REX_B); /* else xchg r8, rax */
    case 'a':
        uses->reads = REGISTER_RAX;
        return true;
    case 'q':
        *uses = (struct flow_uses){REGISTER_RAX, written(plain, 2)};
        return true;
    case 'u':
        uses->reads = bit(reg);
        return true;
    case 'o':
    case 'i':
        uses->writes = written(plain, reg);
        return true;
    case 'x':
    case 'X':
    case 'z':
        *uses = both(plain, effect == 'z');
        return true;
    case 'l':
    case 'B':
        *uses = load(plain, rm_reads(plain));
        return true;
    case 'e':
        *uses = load(plain, address_reads(plain));
        return true;
    case 's':
    case 'S':
        *uses = store(plain, bit_of(plain, reg_number(plain)));
        return true;
    case 'm':
    case 'M':
        *uses = store(plain, 0);
        return true;
    case 'v':
        uses->reads = address_reads(plain);
        return true;
    case 'g':
    case 'G':
    case 'L':
        uses->reads = rm_reads(plain);
        return true;
    case 'c':
    case 'C':
        uses->reads = rm_reads(plain) | REGISTER_RCX;
        return true;
    case 'f':
    case 'F':
        *uses = group_uses(plain);
        return true;
    default:
        return false;
    }
}

bool flow_uses_plain(const uint8_t *bytes, struct flow_uses *uses)
{
    struct plain plain = {0};
    const char *effects = one_byte;

    if (*bytes == PREFIX_WORD)
        plain.is_word = true;
    if (*bytes == PREFIX_WORD || *bytes == PREFIX_REPNE || *bytes == PREFIX_REP)
        bytes++;
    if ((*bytes & 0xf0) == REX) {
        plain.rex = *bytes++;
        plain.has_rex = true;
    }
    if (*bytes == TWO_BYTES) {
        effects = two_bytes;
        bytes++;
    }
    plain.opcode = *bytes;
    plain.modrm = bytes + 1;
    if (!uses_of(&plain, effects[plain.opcode], uses))
        return false;
    uses->reads &= REGISTERS_FREE;
    uses->writes &= REGISTERS_FREE;
    return true;
}

/* ---- all others */

static uint16_t register_bit(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return 0;
    return bit((unsigned)(whole - ZYDIS_REGISTER_RAX));
}

/* Whether what its operands say is all that it reads: not so of what asks a kernel. */
static bool is_understood(const ZydisDecodedInstruction *zydis)
{
    switch (zydis->meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_BMI1: /* tzcnt; the others are VEX */
    case ZYDIS_CATEGORY_MISC:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHA:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_STTNI:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_X87_ALU:
        return true;
    default:
        return zydis->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
               zydis->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    }
}

/* Leaves its destination as it was, now and then, or repeats itself never. */
static bool may_write_nothing(const ZydisDecodedInstruction *zydis)
{
    return zydis->meta.category == ZYDIS_CATEGORY_CMOV ||
           zydis->meta.category == ZYDIS_CATEGORY_SEMAPHORE ||
           zydis->mnemonic == ZYDIS_MNEMONIC_BSF || zydis->mnemonic == ZYDIS_MNEMONIC_BSR ||
           zydis->mnemonic == ZYDIS_MNEMONIC_TZCNT || /* bsf to older processors */
           zydis->mnemonic == ZYDIS_MNEMONIC_LZCNT || zydis->mnemonic == ZYDIS_MNEMONIC_LAR ||
           zydis->mnemonic == ZYDIS_MNEMONIC_LSL ||
           zydis->attributes &
               (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static void add_operand(struct flow_uses *uses, const ZydisDecodedOperand *operand)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        uses->reads |= register_bit(operand->mem.base) | register_bit(operand->mem.index);
    } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            uses->reads |= register_bit(operand->reg.value);
        if (operand->actions & ZYDIS_OPERAND_ACTION_WRITE && operand->size >= 32)
            uses->writes |= register_bit(operand->reg.value);
    }
}

struct flow_uses flow_uses_decode(const ZydisDecoder *decoder, const uint8_t *bytes, size_t size)
{
    static const struct flow_uses unknown = {REGISTERS_FREE, 0};
    ZydisDecodedInstruction zydis;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct flow_uses uses = {0};

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, size, &zydis, operands)) ||
        !is_understood(&zydis))
        return unknown;
    if (zydis.mnemonic == ZYDIS_MNEMONIC_NOP || zydis.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
        return uses;
    for (uint8_t i = 0; i < zydis.operand_count; i++)
        add_operand(&uses, &operands[i]);
    if (may_write_nothing(&zydis))
        uses.writes = 0;
    uses.reads &= REGISTERS_FREE;
    uses.writes &= REGISTERS_FREE;
    return uses;
}
