#include "rewriter/flow/flow_flags.h"

#include "rewriter/code/decode.h"
#include "rewriter/code/decode_plain.h"

#define LONGEST_WAY 4096 /* instructions after which the flags are taken to be alive */

#define FORKS 8

#define ARITHMETIC                                                                                 \
    (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |                   \
     ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

enum effect {
    EFFECT_UNKNOWN,
    EFFECT_NONE,   /* neither reads nor writes flags */
    EFFECT_WRITES, /* all, and reads none */
};

/* By its first opcode byte, of what is most common behind a call. */
static enum effect effect_of(const uint8_t *bytes)
{
    unsigned group;

    if ((*bytes & 0xf0) == 0x40) /* REX */
        bytes++;
    group = bytes[1] >> 3 & 7;
    switch (*bytes) {
    case 0x88: /* mov */
    case 0x89:
    case 0x8a:
    case 0x8b:
    case 0x8d: /* lea */
    case 0x63: /* movsxd */
    case 0xc6: /* mov */
    case 0xc7:
        return EFFECT_NONE;
    case 0x01: /* add */
    case 0x03:
    case 0x29: /* sub */
    case 0x2b:
    case 0x31: /* xor */
    case 0x33:
    case 0x38: /* cmp */
    case 0x39:
    case 0x3a:
    case 0x3b:
    case 0x3c:
    case 0x3d:
    case 0x84: /* test */
    case 0x85:
        return EFFECT_WRITES;
    case 0x80:
    case 0x81:
    case 0x83:
        return group == 2 || group == 3 ? EFFECT_UNKNOWN : EFFECT_WRITES; /* adc, sbb read */
    default:
        return *bytes >= 0x50 && *bytes <= 0x5f ? EFFECT_NONE : EFFECT_UNKNOWN; /* push, pop */
    }
}

/* Shifts by a count that may be 0, and repeated instructions that may not run, leave flags alone.
 */
static bool may_leave_flags(const ZydisDecodedInstruction *zydis,
                            const ZydisDecodedOperand *operands)
{
    switch (zydis->mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        operands += zydis->operand_count_visible - 1;
        return operands->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
               (operands->imm.value.u & (zydis->operand_width == 64 ? 63 : 31)) == 0;
    default:
        return zydis->attributes &
               (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    }
}

/* A place to go on at, and the flags that nothing has written before it. */
struct place {
    uint32_t at, alive;
};

struct way {
    ZydisDecoder decoder;
    const uint8_t *bytes;
    uint32_t size;
    struct place here;
    struct place forks[FORKS]; /* the other ends of conditional branches, looked at or not */
    unsigned fork_count;
};

enum step {
    STEP_ON,
    STEP_READ, /* one that is alive */
    STEP_OVER, /* none is alive any more */
};

/* Not taken; what happens if it is taken is looked at later. */
static enum step fork_step(struct way *way, uint32_t target)
{
    if (target >= way->size)
        return STEP_ON;
    for (unsigned i = 0; i < way->fork_count; i++)
        if (way->forks[i].at == target && (way->here.alive & ~way->forks[i].alive) == 0)
            return STEP_ON;
    if (way->fork_count == FORKS)
        return STEP_READ;
    way->forks[way->fork_count++] = (struct place){target, way->here.alive};
    return STEP_ON;
}

static enum step full_step(struct way *way)
{
    ZydisDecodedInstruction zydis;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint32_t written = 0, target;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&way->decoder, way->bytes + way->here.at,
                                             way->size - way->here.at, &zydis, operands)))
        return STEP_READ;
    if (zydis.cpu_flags && zydis.cpu_flags->tested & way->here.alive)
        return STEP_READ;
    if (zydis.cpu_flags && !may_leave_flags(&zydis, operands))
        written = zydis.cpu_flags->modified | zydis.cpu_flags->set_0 | zydis.cpu_flags->set_1 |
                  zydis.cpu_flags->undefined;
    way->here.alive &= ~written;
    way->here.at += zydis.length;
    target = way->here.at + (uint32_t)operands[0].imm.value.u;
    switch (zydis.meta.category) {
    case ZYDIS_CATEGORY_UNCOND_BR:
        way->here.at = target;
        return operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target < way->size ? STEP_ON
                                                                                      : STEP_OVER;
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
        return STEP_OVER;
    case ZYDIS_CATEGORY_COND_BR:
        return fork_step(way, target);
    default:
        return way->here.alive ? STEP_ON : STEP_OVER;
    }
}

static enum step take_step(struct way *way)
{
    const uint8_t *here = way->bytes + way->here.at;
    enum effect effect = EFFECT_UNKNOWN;
    size_t length = 0;

    if (way->size - way->here.at >= PLAIN_ROOM)
        effect = effect_of(here);
    if (effect == EFFECT_WRITES)
        return STEP_OVER;
    if (effect == EFFECT_NONE)
        length = plain_length(here, 0);
    way->here.at += (uint32_t)length;
    return length ? STEP_ON : full_step(way);
}

/* Until the flags are read or written, or the steps are used up. */
static bool is_read(struct way *way, unsigned *left)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && way->here.at < way->size) {
        if ((*left)-- == 0)
            return true;
        step = take_step(way);
    }
    return step == STEP_READ;
}

bool flow_flags_alive(const uint8_t *bytes, uint32_t size, uint32_t offset)
{
    struct way way = {.bytes = bytes, .size = size, .here = {offset, ARITHMETIC}};
    unsigned left = LONGEST_WAY;

    ZydisDecoderInit(&way.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (is_read(&way, &left))
        return true;
    for (unsigned i = 0; i < way.fork_count; i++) {
        way.here = way.forks[i];
        if (is_read(&way, &left))
            return true;
    }
    return false;
}
