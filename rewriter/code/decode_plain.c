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
#define TWO_BYTES    0x0f

#define RM_SIB 4
#define RM_RIP 5 /* with mod 0, else rbp */

#define SIB_RSP  4
#define SIB_NONE 5 /* with mod 0, else rbp */

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

/* Bytes of ModRM, SIB and displacement; 0 if the caller minds. */
static size_t operand_length(const uint8_t *bytes, bool takes_address, unsigned minds)
{
    static const uint8_t displacement[3] = {0, 1, 4};
    unsigned mod = bytes[0] >> 6, rm = bytes[0] & 7, base = bytes[1] & 7;
    bool is_stack;

    if (mod == 3)
        return takes_address ? 0 : 1;
    if (mod == 0 && rm == RM_RIP)
        return takes_address || minds & PLAIN_MIND_RIP ? 0 : 5;
    is_stack = rm == RM_SIB ? base == SIB_RSP || (base == SIB_NONE && mod) : rm == RM_RIP;
    if ((is_stack && minds & PLAIN_MIND_STACK) ||
        (mod == 2 && rm == RM_SIB && minds & PLAIN_MIND_ARRAY))
        return 0;
    if (rm == RM_SIB)
        return mod == 0 && base == SIB_NONE ? 6u : 2u + displacement[mod];
    return 1u + displacement[mod];
}

struct plain {
    uint8_t prefix, rex;
    unsigned minds;
};

/* Bytes behind an opcode; -1 if it is not plain. */
static int rest_length(const struct plain *plain, char shape, const uint8_t *rest)
{
    size_t operand = 0, number = 0;

    if (shape >= '0' && shape <= '5')
        shape = in_group(shape, *rest);
    if (shape == '.' || (plain->prefix > PREFIX_WORD && shape != 's'))
        return -1;
    if (shape == 'm' || shape == 'M' || shape == 'D' || shape == 's' || shape == 'a') {
        operand = operand_length(rest, shape == 'a', plain->minds);
        if (!operand)
            return -1;
    }
    if (shape == 'p' && plain->minds & PLAIN_MIND_STACK)
        return -1;
    if (shape == 'b' || shape == 'M')
        number = 1;
    if (shape == 'd' || shape == 'D' || shape == 'v') {
        number = shape == 'v' && plain->rex & REX_W ? 8 : 4;
        if (plain->prefix || plain->minds & PLAIN_MIND_NUMBER)
            return -1;
    }
    return (int)(operand + number);
}

size_t plain_length(const uint8_t *bytes, unsigned minds)
{
    struct plain plain = {.minds = minds};
    const uint8_t *at = bytes;
    const char *shapes = one_byte;
    int rest;

    if (*at == PREFIX_WORD || *at == PREFIX_REPNE || *at == PREFIX_REP)
        plain.prefix = *at++;
    if ((*at & 0xf0) == REX)
        plain.rex = *at++;
    if (*at == TWO_BYTES) {
        shapes = two_bytes;
        at++;
    }
    rest = rest_length(&plain, shapes[*at], at + 1);
    return rest < 0 ? 0 : (size_t)(at + 1 - bytes) + (size_t)rest;
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

bool plain_decode(uint64_t address, const uint8_t *bytes, struct instruction *instruction)
{
    instruction->address = address;
    instruction->target = instruction->operand = 0;
    instruction->flow = FLOW_NEXT;
    instruction->is_near = instruction->is_lea = instruction->is_rip_based = false;
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
