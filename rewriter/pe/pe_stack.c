#include "rewriter/pe/pe_stack.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

#define REGISTERS     8
#define WORD          4
#define MOST_ARRIVALS 1024 /* in one function; what has more is no such function */

enum { AX, CX, DX, BX, SP, BP, SI, DI };

struct value {
    enum { ELSE, PLACE, PART } kind;
    int32_t place;
};

struct state {
    struct value registers[REGISTERS];
};

/* A jump forward, and what registers hold there. */
struct arrival {
    uint64_t target;
    struct state state;
};

struct reading {
    const struct function *function;
    struct state state;
    bool is_reached;                   /* by what stands before */
    bool is_bound;                     /* to its return address */
    struct address_set *tails, *parts; /* jumped to elsewhere: as by a tail call, or else */
    struct arrival *arrivals;
    size_t arrival_count, arrival_room;
    ZydisDecodedInstruction at;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static const struct value something_else;

static struct value place_of(int32_t place)
{
    return (struct value){PLACE, place};
}

static int number_of(ZydisRegister name)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LEGACY_32, name);

    return whole >= ZYDIS_REGISTER_EAX && whole <= ZYDIS_REGISTER_EDI
               ? (int)(whole - ZYDIS_REGISTER_EAX)
               : -1;
}

static struct value *register_of(struct reading *reading, ZydisRegister name)
{
    int number = number_of(name);

    return number >= 0 ? &reading->state.registers[number] : NULL;
}

static struct value *stack_of(struct reading *reading)
{
    return &reading->state.registers[SP];
}

static struct value moved(struct value value, int64_t distance)
{
    if (value.kind == PLACE)
        value.place += (int32_t)distance;
    return value;
}

static bool is_same(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && (a->kind != PLACE || a->place == b->place);
}

static void merge(struct state *into, const struct state *from)
{
    for (size_t i = 0; i < REGISTERS; i++)
        if (!is_same(&into->registers[i], &from->registers[i]))
            into->registers[i] = something_else;
}

static void touch(struct reading *reading, struct value where, int64_t distance, unsigned size)
{
    int64_t place = where.place + distance;

    if (where.kind == PLACE && place < WORD && place + size > 0)
        reading->is_bound = true;
}

/* The address of an operand in memory, as far as it is known. */
static struct value address_of(struct reading *reading, const ZydisDecodedOperand *operand)
{
    struct value *base = register_of(reading, operand->mem.base);
    struct value *index = register_of(reading, operand->mem.index);
    struct value value = base ? moved(*base, operand->mem.disp.value) : something_else;

    if (index && (value.kind != ELSE || index->kind != ELSE))
        value = (struct value){.kind = PART};
    return value;
}

static void touch_operands(struct reading *reading)
{
    if (reading->at.mnemonic == ZYDIS_MNEMONIC_NOP)
        return;
    for (int i = 0; i < reading->at.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &reading->operands[i];

        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM)
            touch(reading, address_of(reading, operand), 0, operand->size / 8u);
    }
}

static void pop(struct reading *reading, unsigned size)
{
    touch(reading, *stack_of(reading), 0, size);
    *stack_of(reading) = moved(*stack_of(reading), size);
}

static void push(struct reading *reading, unsigned size)
{
    *stack_of(reading) = moved(*stack_of(reading), -(int64_t)size);
}

/* What is written and not told of: any register, or a part of one. */
static void forget_written(struct reading *reading)
{
    for (int i = 0; i < reading->at.operand_count; i++) {
        const ZydisDecodedOperand *operand = &reading->operands[i];
        struct value *value;

        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        value = register_of(reading, operand->reg.value);
        if (value)
            *value = something_else;
    }
}

static struct value *first_register(struct reading *reading)
{
    return reading->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   reading->operands[0].size == 32
               ? register_of(reading, reading->operands[0].reg.value)
               : NULL;
}

/* mov, lea: what is written is known, if it is. */
static struct value source_of(struct reading *reading)
{
    const ZydisDecodedOperand *source = &reading->operands[1];
    struct value *value = source->type == ZYDIS_OPERAND_TYPE_REGISTER && source->size == 32
                              ? register_of(reading, source->reg.value)
                              : NULL;

    if (reading->at.mnemonic == ZYDIS_MNEMONIC_LEA)
        return address_of(reading, source);
    return value ? *value : something_else;
}

/* add, sub, and, or what is like it. */
static void compute(struct reading *reading, int sign)
{
    const ZydisDecodedOperand *other = &reading->operands[1];
    struct value *value = first_register(reading);

    if (!value)
        forget_written(reading);
    else if (value->kind == PLACE && sign && other->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        *value = moved(*value, sign * (int32_t)other->imm.value.s);
    else if (value->kind != ELSE)
        *value = (struct value){.kind = PART};
}

static void exchange(struct reading *reading)
{
    struct value *a = first_register(reading), *b;
    struct value kept;

    if (!a || reading->operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER) {
        forget_written(reading);
        return;
    }
    b = register_of(reading, reading->operands[1].reg.value);
    if (!b)
        return;
    kept = *a;
    *a = *b;
    *b = kept;
}

/* Whether a function that keeps its callees' conventions has what it had. */
static void forget_called(struct reading *reading)
{
    static const int changed[] = {AX, CX, DX, SP}; /* esp: who is called may take arguments away */

    for (size_t i = 0; i < sizeof(changed) / sizeof(*changed); i++)
        reading->state.registers[changed[i]] = something_else;
}

static void call(struct reading *reading)
{
    const ZydisDecodedOperand *target = &reading->operands[0];

    if (target->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target->imm.is_relative &&
        target->imm.value.s == 0)
        push(reading, WORD);
    else
        forget_called(reading);
}

static void leave_frame(struct reading *reading)
{
    *stack_of(reading) = reading->state.registers[BP];
    pop(reading, WORD);
    reading->state.registers[BP] = something_else;
}

static void check_return(struct reading *reading)
{
    const struct value *stack = stack_of(reading);

    if (stack->kind == PART || (stack->kind == PLACE && stack->place != 0))
        reading->is_bound = true;
}

static void pop_operand(struct reading *reading)
{
    const ZydisDecodedOperand *operand = &reading->operands[0];
    struct value stack = *stack_of(reading);
    unsigned size = reading->at.operand_width / 8u;

    touch(reading, stack, 0, size);
    forget_written(reading); /* esp, too */
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || number_of(operand->reg.value) != SP)
        *stack_of(reading) = moved(stack, size);
}

static void push_all(struct reading *reading, bool is_push)
{
    if (is_push) {
        push(reading, REGISTERS * WORD);
        return;
    }
    pop(reading, REGISTERS * WORD);
    for (int i = 0; i < REGISTERS; i++)
        if (i != SP)
            reading->state.registers[i] = something_else;
}

static void apply(struct reading *reading)
{
    struct value *value = first_register(reading), source;

    switch (reading->at.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
        push(reading, reading->at.operand_width / 8u);
        break;
    case ZYDIS_MNEMONIC_PUSHFD:
        push(reading, WORD);
        break;
    case ZYDIS_MNEMONIC_POPFD:
        pop(reading, WORD);
        break;
    case ZYDIS_MNEMONIC_PUSHAD:
    case ZYDIS_MNEMONIC_POPAD:
        push_all(reading, reading->at.mnemonic == ZYDIS_MNEMONIC_PUSHAD);
        break;
    case ZYDIS_MNEMONIC_POP:
        pop_operand(reading);
        break;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_LEA:
        source = source_of(reading);
        if (value)
            *value = source;
        else
            forget_written(reading);
        break;
    case ZYDIS_MNEMONIC_ADD:
        compute(reading, 1);
        break;
    case ZYDIS_MNEMONIC_SUB:
        compute(reading, -1);
        break;
    case ZYDIS_MNEMONIC_AND:
        compute(reading, 0);
        break;
    case ZYDIS_MNEMONIC_XCHG:
        exchange(reading);
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        leave_frame(reading);
        break;
    case ZYDIS_MNEMONIC_CALL:
        call(reading);
        break;
    case ZYDIS_MNEMONIC_RET:
        check_return(reading);
        break;
    default:
        forget_written(reading);
        break;
    }
}

/* ---- jumps */

static void arrive(struct reading *reading, uint64_t address)
{
    bool is_known = reading->is_reached;

    for (size_t i = 0; i < reading->arrival_count; i++) {
        const struct arrival *arrival = &reading->arrivals[i];

        if (arrival->target != address)
            continue;
        if (is_known)
            merge(&reading->state, &arrival->state);
        else
            reading->state = arrival->state;
        is_known = true;
    }
    if (!is_known)
        reading->state = (struct state){0};
    reading->is_reached = true;
}

static void depart(struct reading *reading, uint64_t address, uint64_t target)
{
    const struct value *stack = stack_of(reading);

    if (target < reading->function->address || target >= reading->function->end)
        address_set_add(stack->kind == PLACE && stack->place == 0 ? reading->tails : reading->parts,
                        target);
    if (target <= address || target >= reading->function->end ||
        reading->arrival_count == MOST_ARRIVALS)
        return;
    reading->arrivals = memory_grow(reading->arrivals, reading->arrival_count,
                                    &reading->arrival_room, sizeof(*reading->arrivals));
    reading->arrivals[reading->arrival_count++] = (struct arrival){target, reading->state};
}

/*
 * Frames of another alignment than the caller's begin with a copy of the return address, for
 * debuggers, which nobody returns by:
 *
 *      and esp, -16; push [reg - 4]            gcc, clang
 *      mov ebp, [ebx + 4]; mov [esp + 4], ebp  Microsoft's
 */
static bool is_copy(const struct reading *reading, const uint8_t *bytes, size_t size)
{
    const ZydisDecodedOperand *operand = &reading->operands[0];

    if (reading->at.mnemonic == ZYDIS_MNEMONIC_PUSH && operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
        operand->mem.base != ZYDIS_REGISTER_EBP)
        return reading->state.registers[SP].kind == PART;
    return size >= 7 && memcmp(bytes, "\x8b\x6b\x04\x89\x6c\x24\x04", 7) == 0;
}

static void follow_flow(struct reading *reading, uint64_t address)
{
    const ZydisDecodedOperand *operand = &reading->operands[0];
    ZydisInstructionCategory category = reading->at.meta.category;
    bool is_jump = category == ZYDIS_CATEGORY_UNCOND_BR;

    if ((is_jump || category == ZYDIS_CATEGORY_COND_BR) &&
        operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative)
        depart(reading, address, address + reading->at.length + (uint64_t)operand->imm.value.s);
    if (is_jump || category == ZYDIS_CATEGORY_RET)
        reading->is_reached = false;
}

static bool is_bound(const struct pe_code *pe, const ZydisDecoder *decoder,
                     const struct function *function, struct address_set *tails,
                     struct address_set *parts)
{
    struct reading reading = {
        .function = function, .is_reached = true, .tails = tails, .parts = parts};
    uint64_t address = function->address;
    size_t size;
    const uint8_t *bytes = code_at(&pe->code, address, &size);

    reading.state.registers[SP] = place_of(0);
    size = size < function->end - address ? size : function->end - address;
    while (
        size && !reading.is_bound && reading.arrival_count < MOST_ARRIVALS &&
        ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, size, &reading.at, reading.operands))) {
        arrive(&reading, address);
        if (!is_copy(&reading, bytes, size))
            touch_operands(&reading);
        apply(&reading);
        follow_flow(&reading, address);
        address += reading.at.length;
        bytes += reading.at.length;
        size -= reading.at.length;
    }
    free(reading.arrivals);
    return reading.is_bound;
}

void pe_stack_mark(struct pe_code *pe)
{
    uint8_t told = EVIDENCE_SYMBOL | EVIDENCE_ENTRY | EVIDENCE_CALL | EVIDENCE_POINTER;
    struct address_set tails, parts;
    ZydisDecoder decoder;

    address_set_init(&tails, &pe->code);
    address_set_init(&parts, &pe->code);
    ZydisDecoderInit(&decoder, pe->code.processor->machine_mode, pe->code.processor->stack_width);
    for (size_t i = 0; i < pe->functions.count; i++) {
        struct function *function = &pe->functions.items[i];
        bool is_wanted = !function->reason && function->evidence & EVIDENCE_EXTENT;

        if (is_wanted && is_bound(pe, &decoder, function, &tails, &parts))
            function->reason = PATCH_RETURN_ADDRESS;
    }
    for (size_t i = 0; i < pe->functions.count; i++) {
        struct function *function = &pe->functions.items[i];

        if ((!function->reason || function->reason == PATCH_RETURN_ADDRESS) &&
            !(function->evidence & told) &&
            (!address_set_has(&tails, function->address) ||
             address_set_has(&parts, function->address)))
            function->reason = PATCH_FRAGMENT;
    }
    free(tails.words);
    free(parts.words);
}
