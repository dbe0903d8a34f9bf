#include "rewriter/flow/flow_steps.h"

#include <stdlib.h>

#include "support/memory.h"

#define MOST_STEPS (2u << 20)

/* What a full decoder says of one instruction. */
struct decoded {
    ZydisDecodedInstruction zydis;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool skips_lock;
};

static uint8_t register_number(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return NO_REGISTER;
    return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static bool is_register(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           register_number(operand->reg.value) != NO_REGISTER &&
           !(operand->reg.value >= ZYDIS_REGISTER_AH && operand->reg.value <= ZYDIS_REGISTER_BH);
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_number(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static void set_memory(struct step *step, const ZydisDecodedOperand *operand, uint64_t next)
{
    bool has_segment =
        operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS;

    step->has_memory = !has_segment;
    step->writes_memory = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && !has_segment;
    step->base = register_number(operand->mem.base);
    step->index = register_number(operand->mem.index);
    if (operand->mem.index != ZYDIS_REGISTER_NONE && step->index == NO_REGISTER)
        step->has_memory = false; /* a vector of them */
    step->scale = operand->mem.scale;
    step->displacement = operand->mem.disp.value;
    step->memory_size = operand->size / 8 > UINT8_MAX ? UINT8_MAX : (uint8_t)(operand->size / 8);
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        step->displacement = (int64_t)(next + (uint64_t)operand->mem.disp.value);
    else if (operand->mem.base != ZYDIS_REGISTER_NONE &&
             ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->mem.base) != 64)
        step->has_memory = false; /* addresses of 32 bits */
}

static void set_effects(struct step *step, const struct decoded *at, uint64_t next)
{
    for (uint8_t i = 0; i < at->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &at->operands[i];
        uint8_t reg;

        if (is_memory(operand) && operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
            set_memory(step, operand, next);
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        reg = register_number(operand->reg.value);
        if (reg != NO_REGISTER)
            step->writes |= (uint16_t)(1u << reg);
        if (reg != NO_REGISTER && operand->size == 32 &&
            (!(operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) ||
             at->zydis.meta.category == ZYDIS_CATEGORY_CMOV))
            step->clears |= (uint16_t)(1u << reg);
        if (operand->reg.value == ZYDIS_REGISTER_RFLAGS ||
            operand->reg.value == ZYDIS_REGISTER_EFLAGS ||
            operand->reg.value == ZYDIS_REGISTER_FLAGS)
            step->writes_flags = true;
    }
}

static void set_to(struct step *step, enum step_kind kind, const ZydisDecodedOperand *operand)
{
    step->kind = (uint8_t)kind;
    step->to = register_number(operand->reg.value);
    step->to_size = (uint8_t)(operand->size / 8);
}

static void set_from(struct step *step, const ZydisDecodedOperand *operand)
{
    step->from = register_number(operand->reg.value);
    step->size = (uint8_t)(operand->size / 8);
}

static void read_move(struct step *step, const struct decoded *at, bool is_signed)
{
    const ZydisDecodedOperand *to = &at->operands[0], *from = &at->operands[1];

    if (is_register(to) && is_register(from)) {
        set_to(step, STEP_MOVE, to);
        set_from(step, from);
    } else if (is_register(to) && is_memory(from)) {
        set_to(step, step->has_memory ? STEP_LOAD : STEP_OTHER, to);
        step->size = (uint8_t)(from->size / 8);
    } else if (is_register(to) && is_number(from)) {
        set_to(step, STEP_NUMBER, to);
        step->number = from->imm.value.s;
    } else if (is_memory(to) && step->has_memory) {
        step->kind = STEP_STORE;
        if (is_register(from))
            set_from(step, from);
    }
    step->is_signed = is_signed;
}

/* Whether it is: operation register, number. */
static bool has_number(const struct decoded *at)
{
    return is_register(&at->operands[0]) && is_number(&at->operands[1]);
}

static void read_sum(struct step *step, const struct decoded *at, bool is_subtraction)
{
    const ZydisDecodedOperand *to = &at->operands[0], *from = &at->operands[1];

    if (!is_register(to) || to->size != 64)
        return;
    if (is_number(from)) {
        set_to(step, STEP_ADD_NUMBER, to);
        step->number = is_subtraction ? (int64_t)(0 - from->imm.value.u) : from->imm.value.s;
    } else if (!is_subtraction && is_register(from)) {
        set_to(step, STEP_ADD, to);
        set_from(step, from);
    } else if (!is_subtraction && is_memory(from) && step->has_memory) {
        set_to(step, STEP_ADD_LOAD, to);
        step->size = 8;
    }
}

static void read_with_number(struct step *step, const struct decoded *at, enum step_kind kind)
{
    if (!has_number(at) || at->operands[0].size < 32)
        return;
    set_to(step, kind, &at->operands[0]);
    step->number = at->operands[1].imm.value.s;
}

/* The number as an unsigned one, as wide as what it is compared with. */
static void read_compare(struct step *step, const struct decoded *at)
{
    const ZydisDecodedOperand *left = &at->operands[0], *right = &at->operands[1];

    if (!is_number(right) || (is_memory(left) ? !step->has_memory : !is_register(left)))
        return;
    step->kind = is_memory(left) ? STEP_COMPARE_LOAD : STEP_COMPARE;
    step->size = (uint8_t)(left->size / 8);
    if (is_register(left))
        set_from(step, left);
    step->number = right->imm.value.s;
    if (left->size < 64)
        step->number &= (int64_t)((1ull << left->size) - 1);
}

static void read_push(struct step *step, const struct decoded *at)
{
    if (at->operands[0].size != 64)
        return;
    step->kind = STEP_PUSH;
    if (is_register(&at->operands[0]))
        set_from(step, &at->operands[0]);
}

static void read_branch(struct step *step, const struct decoded *at)
{
    const ZydisDecodedOperand *target = &at->operands[0];

    if (is_number(target)) {
        step->number = (int64_t)step->offset + step->length;
        if (!at->skips_lock)
            step->number += target->imm.value.s;
    } else if (is_register(target)) {
        step->kind = STEP_JUMP;
        set_from(step, target);
    } else if (step->has_memory) {
        step->kind = STEP_JUMP_LOAD;
        step->size = 8;
    }
}

static void read_kind(struct step *step, const struct decoded *at)
{
    const ZydisDecodedOperand *operands = at->operands;

    switch (at->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
        if (operands[0].size == 64 || operands[0].size == 32)
            set_to(step, STEP_ADDRESS, &operands[0]);
        break;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
        read_move(step, at, false);
        break;
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        read_move(step, at, true);
        break;
    case ZYDIS_MNEMONIC_XOR:
        if (is_register(&operands[0]) && is_register(&operands[1]) &&
            operands[0].reg.value == operands[1].reg.value && operands[0].size >= 32)
            set_to(step, STEP_NUMBER, &operands[0]);
        break;
    case ZYDIS_MNEMONIC_ADD:
        read_sum(step, at, false);
        break;
    case ZYDIS_MNEMONIC_SUB:
        read_sum(step, at, true);
        break;
    case ZYDIS_MNEMONIC_AND:
        read_with_number(step, at, STEP_MASK);
        break;
    case ZYDIS_MNEMONIC_SHL:
        read_with_number(step, at, STEP_SHIFT_LEFT);
        break;
    case ZYDIS_MNEMONIC_SHR:
        read_with_number(step, at, STEP_SHIFT_RIGHT);
        break;
    case ZYDIS_MNEMONIC_CDQE:
        step->kind = STEP_SIGN;
        step->to = 0;
        break;
    case ZYDIS_MNEMONIC_CMP:
        read_compare(step, at);
        break;
    case ZYDIS_MNEMONIC_PUSH:
        read_push(step, at);
        break;
    case ZYDIS_MNEMONIC_POP:
        if (is_register(&operands[0]) && operands[0].size == 64)
            set_to(step, STEP_POP, &operands[0]);
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        step->kind = STEP_LEAVE;
        break;
    default:
        if (at->zydis.meta.category == ZYDIS_CATEGORY_CMOV && is_register(&operands[0]) &&
            is_register(&operands[1]) && operands[0].size == 64) {
            set_to(step, STEP_CHOOSE, &operands[0]);
            set_from(step, &operands[1]);
        }
        break;
    }
}

static uint8_t flow_of(const struct decoded *at)
{
    bool is_direct = is_number(&at->operands[0]);

    switch (at->zydis.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return at->zydis.opcode >= 0xe0 && at->zydis.opcode <= 0xe3 ? FLOW_LOOP : FLOW_CONDITION;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return is_direct ? FLOW_JUMP : FLOW_INDIRECT_JUMP;
    case ZYDIS_CATEGORY_CALL:
        return is_direct ? FLOW_CALL : FLOW_INDIRECT_CALL;
    case ZYDIS_CATEGORY_RET:
        return FLOW_END;
    default:
        return at->zydis.mnemonic == ZYDIS_MNEMONIC_UD2 ||
                       at->zydis.mnemonic == ZYDIS_MNEMONIC_HLT ||
                       at->zydis.mnemonic == ZYDIS_MNEMONIC_INT3
                   ? FLOW_END
                   : FLOW_NEXT;
    }
}

static bool step_read(struct step *step, const ZydisDecoder *decoder, const struct flow_body *body,
                      uint32_t offset)
{
    struct decoded at;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, body->bytes + offset, body->size - offset,
                                             &at.zydis, at.operands)))
        return false;
    *step = (struct step){.offset = offset,
                          .length = at.zydis.length,
                          .flow = flow_of(&at),
                          .condition = at.zydis.opcode & 0x0f,
                          .to = NO_REGISTER,
                          .from = NO_REGISTER,
                          .base = NO_REGISTER,
                          .index = NO_REGISTER};
    at.skips_lock = bytes_skip_lock(body->bytes + offset, body->size - offset);
    set_effects(step, &at, body->address + offset + at.zydis.length);
    if (step->flow == FLOW_CALL)
        step->number = (int64_t)offset + at.zydis.length + at.operands[0].imm.value.s;
    if (step->flow == FLOW_CALL || step->flow == FLOW_INDIRECT_CALL)
        step->kind = STEP_CALL;
    else if (step->flow == FLOW_NEXT)
        read_kind(step, &at);
    else if (step->flow != FLOW_END)
        read_branch(step, &at);
    return true;
}

bool flow_steps_read(struct flow_steps *steps, const struct flow_body *body)
{
    ZydisDecoder decoder;
    size_t count = 0;

    *steps = (struct flow_steps){0};
    for (size_t i = 0; i <= body->size / 64; i++)
        count += (size_t)__builtin_popcountll(body->starts[i]);
    if (count > MOST_STEPS)
        return false;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    steps->items = memory_zeroed(count, sizeof(*steps->items));
    for (uint32_t offset = 0; offset < body->size; offset += steps->items[steps->count++].length)
        if (steps->count == count ||
            !step_read(&steps->items[steps->count], &decoder, body, offset))
            return false;
    return true;
}

void flow_steps_free(struct flow_steps *steps)
{
    free(steps->items);
    *steps = (struct flow_steps){0};
}
