/*
 * An instruction that is plain here:
 *
 *      [66 | f2 | f3]  [40 ... 4f]  opcode | 0f opcode  [ModRM [SIB] [displacement]]  [number]
 *
 * What follows an opcode stands in the tables below:
 *
 *      .  is not plain        m  ModRM                        n  nothing
 *      b  number of 8 bits    M  ModRM, a number of 8         p  nothing; it pops
 *      d  number of 32        D  ModRM, a number of 32        v  a number as wide as the operand
 *      s  ModRM; f2 and f3 are part of the opcode
 *      a  ModRM, of which it takes the address
 *      0 ... 5  a group, told apart by ModRM: see in_group
 *
 * decode_plain_test.c holds all that can be built this way against what the full decoder says.
 */
#include "rewriter/code/decode_plain.h"

#include <string.h>

#define PREFIX_WORD  0x66
#define PREFIX_REPNE 0xf2
#define PREFIX_REP   0xf3
#define REX          0x40
#define REX_W        0x08
#define REX_B        0x01
#define TWO_BYTES    0x0f

#define TWO_BYTES_NOP 0x1f

#define RM_RIP 5 /* with mod 0, else rbp */

#define SIB_NONE 5 /* with mod 0, else rbp */

#define SIB_RSP_ALONE 0x24 /* base rsp, no index, or r12 */

static const char one_byte[257] = "mmmmbd..mmmmbd.."  /* 00: add, or */
                                  "mmmmbd..mmmmbd.."  /* 10: adc, sbb */
                                  "mmmmbd..mmmmbd.."  /* 20: and, sub */
                                  "mmmmbd..mmmmbd.."  /* 30: xor, cmp */
                                  "................"  /* 40 */
                                  "nnnnnnnnpppppppp"  /* 50: push, pop */
                                  "...m.....D.M...."  /* 60: movsxd, imul */
                                  "................"  /* 70 */
                                  "MD.Mmmmmmmmm.a.."  /* 80: of the above; test, xchg, mov, lea */
                                  "n.......nn......"  /* 90: nop, cdqe, cqo */
                                  "........bd......"  /* a0: test */
                                  "bbbbbbbbvvvvvvvv"  /* b0: mov */
                                  "MM....01.n..n..."  /* c0: shifts, mov, leave, int3 */
                                  "mmmm............"  /* d0: shifts */
                                  "................"  /* e0 */
                                  "......23......45"; /* f0: test, not, neg, mul, inc, dec, push */

static const char two_bytes[257] = "................"  /* 00 */
                                   "ss.............m"  /* 10: movups, nop */
                                   "........mm....mm"  /* 20: movaps, ucomiss, comiss */
                                   "................"  /* 30 */
                                   "mmmmmmmmmmmmmmmm"  /* 40: cmov */
                                   "....mmmmss..s.s."  /* 50: andps to xorps, addps, ... divps */
                                   "...............m"  /* 60: movq, movdqa */
                                   "...............m"  /* 70: movq, movdqa */
                                   "................"  /* 80 */
                                   "mmmmmmmmmmmmmmmm"  /* 90: set */
                                   "...............m"  /* a0: imul */
                                   "......mm......mm"  /* b0: movzx, movsx */
                                   "................"  /* c0 */
                                   "................"  /* d0 */
                                   "...............m"  /* e0: pxor */
                                   "................"; /* f0 */

/* What a letter of the tables means. */
enum trait {
    TRAIT_PLAIN = 1,
    TRAIT_OPERAND = 2, /* ModRM */
    TRAIT_BYTE = 4,    /* a number of 8 bits */
    TRAIT_NUMBER = 8,  /* a longer one */
    TRAIT_WIDE = 16,   /* which is as wide as the operand */
    TRAIT_POPS = 32,
    TRAIT_PREFIX = 64,   /* f2 and f3 are part of the opcode */
    TRAIT_ADDRESS = 128, /* takes the address of its operand; as FORM_REGISTER */
};

static const uint8_t traits_of[128] = {
    ['m'] = TRAIT_PLAIN | TRAIT_OPERAND,
    ['M'] = TRAIT_PLAIN | TRAIT_OPERAND | TRAIT_BYTE,
    ['D'] = TRAIT_PLAIN | TRAIT_OPERAND | TRAIT_NUMBER,
    ['s'] = TRAIT_PLAIN | TRAIT_OPERAND | TRAIT_PREFIX,
    ['a'] = TRAIT_PLAIN | TRAIT_OPERAND | TRAIT_ADDRESS,
    ['n'] = TRAIT_PLAIN,
    ['b'] = TRAIT_PLAIN | TRAIT_BYTE,
    ['d'] = TRAIT_PLAIN | TRAIT_NUMBER,
    ['v'] = TRAIT_PLAIN | TRAIT_NUMBER | TRAIT_WIDE,
    ['p'] = TRAIT_PLAIN | TRAIT_POPS,
};

/* Bytes of ModRM, SIB and displacement, by ModRM, with what else is to be looked at. */
enum form {
    FORM_LENGTH = 0x0f,
    FORM_SIB = 0x10,
    FORM_RBP = 0x20, /* at rbp or r13 */
    FORM_RIP = 0x40,
    FORM_REGISTER = 0x80, /* no memory */
};

#define FORMS_8(row)           row row row row row row row row
#define FORMS(other, sib, rbp) other, other, other, other, sib, rbp, other, other,
#define FORMS_MOD_0            FORMS(1, 2 | FORM_SIB, 5 | FORM_RIP)
#define FORMS_MOD_1            FORMS(2, 3 | FORM_SIB, 2 | FORM_RBP)
#define FORMS_MOD_2            FORMS(5, 6 | FORM_SIB, 5 | FORM_RBP)
#define FORMS_MOD_3            FORMS(1 | FORM_REGISTER, 1 | FORM_REGISTER, 1 | FORM_REGISTER)

static const uint8_t forms[256] = {FORMS_8(FORMS_MOD_0) FORMS_8(FORMS_MOD_1) FORMS_8(FORMS_MOD_2)
                                       FORMS_8(FORMS_MOD_3)};

/* What follows an opcode whose meaning depends on ModRM. */
static char in_group(char group, uint8_t modrm)
{
    unsigned reg = modrm >> 3 & 7;

    switch (group) {
    case '0': /* c6 */
        return reg == 0 ? 'M' : '.';
    case '1': /* c7 */
        return reg == 0 ? 'D' : '.';
    case '2': /* f6 */
        return reg == 0 ? 'M' : reg == 1 ? '.' : 'm';
    case '3': /* f7 */
        return reg == 0 ? 'D' : reg == 1 ? '.' : 'm';
    case '4': /* fe */
        return reg < 2 ? 'm' : '.';
    default: /* ff */
        return reg < 2 || reg == 6 ? 'm' : '.';
    }
}

/* Bytes of an operand that FORM_LENGTH alone does not tell; 0 if the caller minds. */
static size_t operand_length(const uint8_t *bytes, uint8_t traits, unsigned minds)
{
    unsigned mod = bytes[0] >> 6, base = bytes[1] & 7;
    uint8_t form = forms[bytes[0]];
    size_t length = form & FORM_LENGTH;

    if (form & FORM_REGISTER)
        return 0;
    if (form & FORM_RIP)
        return traits & TRAIT_ADDRESS || minds & PLAIN_MIND_RIP ? 0 : length;
    if (minds & PLAIN_MIND_ARRAY && mod == 2)
        return 0;
    return mod == 0 && base == SIB_NONE ? 6 : length;
}

/* Bytes of the number behind an operand; -1 if it is not plain. */
static int number_length(uint8_t prefix, uint8_t rex, uint8_t traits, unsigned minds)
{
    if (traits & TRAIT_BYTE)
        return 1;
    if (prefix || minds & PLAIN_MIND_NUMBER)
        return -1;
    return traits & TRAIT_WIDE && rex & REX_W ? 8 : 4;
}

size_t plain_length(const uint8_t *bytes, unsigned minds)
{
    const uint8_t *at = bytes;
    const char *shapes = one_byte;
    uint8_t prefix = 0, rex = 0, traits;
    size_t length;
    char shape;

    if (*at == PREFIX_WORD || *at == PREFIX_REPNE || *at == PREFIX_REP)
        prefix = *at++;
    if ((*at & 0xf0) == REX)
        rex = *at++;
    if (*at == TWO_BYTES) {
        shapes = two_bytes;
        at++;
    }
    shape = shapes[*at++];
    if (shape >= '0' && shape <= '5')
        shape = in_group(shape, *at);
    traits = traits_of[(uint8_t)shape];
    if (!traits || (prefix > PREFIX_WORD && !(traits & TRAIT_PREFIX)))
        return 0;
    length = (size_t)(at - bytes);
    if (traits & TRAIT_OPERAND) {
        uint8_t form = forms[*at];
        size_t operand = form & FORM_LENGTH;

        if (form & (FORM_SIB | FORM_RIP | (traits & TRAIT_ADDRESS)))
            operand = operand_length(at, traits, minds);
        if (!operand)
            return 0;
        length += operand;
    }
    if (traits & (TRAIT_BYTE | TRAIT_NUMBER)) {
        int number = number_length(prefix, rex, traits, minds);

        if (number < 0)
            return 0;
        length += (size_t)number;
    }
    return length;
}

static int32_t distance_at(const uint8_t *bytes)
{
    int32_t distance;

    memcpy(&distance, bytes, sizeof(distance));
    return distance;
}

static bool settle_near(struct instruction *at, enum flow_kind flow, const uint8_t *bytes,
                        size_t opcode_size)
{
    at->flow = (uint8_t)flow;
    at->length = (uint8_t)(opcode_size + 4);
    at->is_near = true;
    at->target = at->address + at->length + (uint64_t)distance_at(bytes + opcode_size);
    return true;
}

static bool settle_short(struct instruction *at, enum flow_kind flow, const uint8_t *bytes)
{
    at->flow = (uint8_t)flow;
    at->length = 2;
    at->target = at->address + 2 + (uint64_t)(int8_t)bytes[1];
    at->skips_lock = bytes_skip_lock(bytes, PLAIN_ROOM);
    if (at->skips_lock)
        at->target--;
    return true;
}

static bool settle_lea(struct instruction *at, const uint8_t *bytes)
{
    bool is_rip_based = bytes[1] == 0x8d && (bytes[2] & 0xc7) == RM_RIP;

    at->length = 7;
    at->is_lea = at->is_rip_based = is_rip_based;
    at->operand = at->address + at->length + (uint64_t)distance_at(bytes + 3);
    return is_rip_based;
}

/* Whether an operand in memory counts from rsp, or, if is_rbp, from rbp. */
static bool is_at_register(const uint8_t *operand, uint8_t rex, bool is_rbp)
{
    uint8_t form = forms[*operand];

    if (rex & REX_B)
        return false;
    return is_rbp ? form & FORM_RBP : form & FORM_SIB && (operand[1] & 0x3f) == SIB_RSP_ALONE;
}

bool plain_is_at_slot(const uint8_t *bytes, bool is_rbp, int64_t offset)
{
    const char *shapes = one_byte;
    uint8_t rex = 0, traits;
    int64_t displacement = 0;
    size_t mod;

    if (*bytes == PREFIX_WORD || *bytes == PREFIX_REPNE || *bytes == PREFIX_REP)
        bytes++;
    if ((*bytes & 0xf0) == REX)
        rex = *bytes++;
    if (*bytes == TWO_BYTES) {
        shapes = two_bytes;
        if (*++bytes == TWO_BYTES_NOP)
            return false;
    }
    traits = traits_of[(uint8_t)shapes[*bytes++]];
    if (traits & TRAIT_POPS)
        return !is_rbp && offset == 0;
    if ((traits && !(traits & TRAIT_OPERAND)) || !is_at_register(bytes, rex, is_rbp))
        return false;
    mod = *bytes >> 6;
    bytes += is_rbp ? 1 : 2;
    if (mod == 1)
        displacement = (int8_t)*bytes;
    else if (mod == 2)
        displacement = distance_at(bytes);
    return displacement >= offset && displacement < offset + 8;
}

bool plain_decode(uint64_t address, const uint8_t *bytes, struct instruction *instruction)
{
    instruction->address = address;
    instruction->target = instruction->operand = 0;
    instruction->flow = FLOW_NEXT;
    instruction->is_near = instruction->is_lea = instruction->is_rip_based = false;
    instruction->skips_lock = false;
    if ((*bytes & 0xf0) == 0x70)
        return settle_short(instruction, FLOW_CONDITION, bytes);
    if ((*bytes & 0xf8) == (REX | REX_W))
        return settle_lea(instruction, bytes);
    switch (*bytes) {
    case TWO_BYTES:
        return (bytes[1] & 0xf0) == 0x80 && settle_near(instruction, FLOW_CONDITION, bytes, 2);
    case 0xe8:
        return settle_near(instruction, FLOW_CALL, bytes, 1);
    case 0xe9:
        return settle_near(instruction, FLOW_JUMP, bytes, 1);
    case 0xeb:
        return settle_short(instruction, FLOW_JUMP, bytes);
    case 0xc3:
        instruction->flow = FLOW_END;
        instruction->length = 1;
        return true;
    default:
        return false;
    }
}
