#include "rewriter/flow/flow_flags.h"

#include <stdlib.h>

#include "rewriter/code/decode_plain.h"

#define LONGEST_WAY 4096 /* instructions after which the flags are taken to be alive */

#define FORKS 8

#define DEEPEST 8 /* calls within calls, behind which they are, too */

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
    uint64_t at;
    uint32_t alive;
};

/* Through one function, and what that jumps to. */
struct way {
    const struct flow_source *source;
    const ZydisDecoder *decoder;
    unsigned *steps_left;
    const struct way *caller; /* or null */
    uint64_t entry;
    uint64_t start, end; /* of the function that `here` is in */
    const uint8_t *bytes;
    bool may_go_on; /* to the next function: assembly, whose labels may count as functions */
    struct place here;
    uint32_t returned;         /* flags that are alive at a return */
    struct place forks[FORKS]; /* the other ends of conditional branches, looked at or not */
    unsigned fork_count;
};

enum step {
    STEP_ON,   /* to the next instruction */
    STEP_JUMP, /* to another instruction */
    STEP_READ, /* one that is alive */
    STEP_OVER, /* none is alive any more, or they leave the function */
};

static enum flow_flags_fate follow(struct way *way, uint64_t address, uint32_t alive);

/* Whether there is code at `here`, which is looked for if it is outside of the last function. */
static bool find_code(struct way *way)
{
    uint64_t at = way->here.at;
    const struct function *function;
    size_t room;

    if (at - way->start < way->end - way->start)
        return true;
    function = function_list_owner(way->source->functions, at);
    if (!function || at >= function->end || function->reason == PATCH_PLT)
        return false;
    way->bytes = code_at(way->source->code, function->address, &room);
    if (!way->bytes || function->end - function->address > room)
        return false;
    way->start = function->address;
    way->end = function->end;
    way->may_go_on = !function->unwind;
    return true;
}

/* Not taken; what happens if it is taken is looked at later. */
static enum step fork_step(struct way *way, uint64_t target)
{
    for (unsigned i = 0; i < way->fork_count; i++)
        if (way->forks[i].at == target && (way->here.alive & ~way->forks[i].alive) == 0)
            return STEP_ON;
    if (way->fork_count == FORKS)
        return STEP_READ;
    way->forks[way->fork_count++] = (struct place){target, way->here.alive};
    return STEP_ON;
}

/* A function that is followed already, with these flags or more, has nothing to add. */
static enum step call_step(struct way *way, uint64_t target)
{
    struct way callee = {.source = way->source,
                         .decoder = way->decoder,
                         .steps_left = way->steps_left,
                         .caller = way};
    unsigned depth = 0;

    for (const struct way *i = way; i; i = i->caller, depth++)
        if (i->entry == target)
            return STEP_OVER;
    if (depth == DEEPEST)
        return STEP_READ;
    switch (follow(&callee, target, way->here.alive)) {
    case FLAGS_READ:
        return STEP_READ;
    case FLAGS_RETURNED:
        way->here.alive = callee.returned;
        return STEP_ON;
    default:
        return STEP_OVER;
    }
}

static enum step full_step(struct way *way)
{
    ZydisDecodedInstruction zydis;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint32_t written = 0;
    uint64_t target;
    bool is_direct;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(way->decoder, way->bytes + (way->here.at - way->start),
                                             way->end - way->here.at, &zydis, operands)))
        return STEP_READ;
    if (zydis.cpu_flags && zydis.cpu_flags->tested & way->here.alive)
        return STEP_READ;
    if (zydis.cpu_flags && !may_leave_flags(&zydis, operands))
        written = zydis.cpu_flags->modified | zydis.cpu_flags->set_0 | zydis.cpu_flags->set_1 |
                  zydis.cpu_flags->undefined;
    way->here.alive &= ~written;
    way->here.at += zydis.length;
    target = way->here.at + operands[0].imm.value.u;
    is_direct = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (zydis.meta.category) {
    case ZYDIS_CATEGORY_UNCOND_BR:
        way->here.at = target;
        return is_direct ? STEP_JUMP : STEP_OVER;
    case ZYDIS_CATEGORY_CALL:
        return is_direct ? call_step(way, target) : STEP_OVER;
    case ZYDIS_CATEGORY_RET:
        way->returned |= way->here.alive;
        return STEP_OVER;
    case ZYDIS_CATEGORY_COND_BR:
        return fork_step(way, target);
    default:
        return way->here.alive ? STEP_ON : STEP_OVER;
    }
}

/* A direct branch, call, `ret` or lea in its plain form. A condition reads flags, if all are alive.
 */
static enum step branch_step(struct way *way, const struct instruction *at)
{
    if (at->flow == FLOW_CONDITION && way->here.alive != ARITHMETIC)
        return full_step(way);
    way->here.at += at->length;
    switch (at->flow) {
    case FLOW_JUMP:
        way->here.at = at->target;
        return STEP_JUMP;
    case FLOW_CALL:
        return call_step(way, at->target);
    case FLOW_END:
        way->returned |= way->here.alive;
        return STEP_OVER;
    case FLOW_CONDITION:
        return STEP_READ;
    default:
        return STEP_ON;
    }
}

static enum step take_step(struct way *way)
{
    const uint8_t *here = way->bytes + (way->here.at - way->start);
    enum effect effect;
    struct instruction at;
    size_t length = 0;

    if (way->end - way->here.at < PLAIN_ROOM)
        return full_step(way);
    effect = effect_of(here);
    if (effect == EFFECT_WRITES)
        return STEP_OVER;
    if (effect == EFFECT_NONE)
        length = plain_length(here, 0);
    way->here.at += length;
    if (length)
        return STEP_ON;
    return plain_decode(way->here.at, here, &at) ? branch_step(way, &at) : full_step(way);
}

/* Whether the last step led out of a function, other than by a jump. A call at its end is one that
   does not return. */
static bool is_at_end(const struct way *way, enum step last)
{
    return last == STEP_ON && way->here.at == way->end && !way->may_go_on;
}

/* Walks until the flags are read or written, or the steps are used up; whether they may be read. */
static bool walk_to_read(struct way *way)
{
    enum step step = STEP_JUMP;

    while ((step == STEP_ON || step == STEP_JUMP) && !is_at_end(way, step) && find_code(way)) {
        if ((*way->steps_left)-- == 0)
            return true;
        step = take_step(way);
    }
    return step == STEP_READ;
}

static enum flow_flags_fate follow(struct way *way, uint64_t address, uint32_t alive)
{
    way->entry = address;
    way->here = (struct place){address, alive};
    if (walk_to_read(way))
        return FLAGS_READ;
    for (unsigned i = 0; i < way->fork_count; i++) {
        way->here = way->forks[i];
        if (walk_to_read(way))
            return FLAGS_READ;
    }
    return way->returned ? FLAGS_RETURNED : FLAGS_DEAD;
}

static enum flow_flags_fate find_fate(const struct flow_source *source, uint64_t address)
{
    ZydisDecoder decoder;
    unsigned left = LONGEST_WAY;
    struct way way = {.source = source, .decoder = &decoder, .steps_left = &left};

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return follow(&way, address, ARITHMETIC);
}

enum flow_flags_fate flow_flags_fate(const struct flow_source *source, uint64_t address)
{
    struct flow_fates *fates = source->fates;
    enum flow_flags_fate fate;

    for (unsigned i = 0; fates && i <= FLAGS_READ; i++)
        if (address_set_has(&fates->known[i], address))
            return (enum flow_flags_fate)i;
    fate = find_fate(source, address);
    if (fates)
        address_set_add(&fates->known[fate], address);
    return fate;
}

void flow_fates_init(struct flow_fates *fates, const struct code *code)
{
    for (unsigned i = 0; i <= FLAGS_READ; i++)
        address_set_init(&fates->known[i], code);
}

void flow_fates_free(struct flow_fates *fates)
{
    for (unsigned i = 0; i <= FLAGS_READ; i++)
        free(fates->known[i].words);
    *fates = (struct flow_fates){0};
}
