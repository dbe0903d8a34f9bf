#include "rewriter/flow/flow_effects.h"

static uint64_t root_of(const struct step *step, unsigned reg)
{
    return (step->offset + 1ull) * (REGISTERS * 2) + reg;
}

static struct value fresh(const struct step *step)
{
    return value_fresh(root_of(step, step->to < REGISTERS ? step->to : 0));
}

/* Loaded as a whole. */
static struct value loaded(const struct step *step, unsigned bits)
{
    struct value value = fresh(step);

    value.is_sum = bits < 64;
    value.width = (uint8_t)bits;
    return value;
}

/* The address in memory as a number, if it is one. */
static bool constant_address(const struct state *now, const struct step *step, uint64_t *address)
{
    const struct value *base = step->base < REGISTERS ? &now->registers[step->base] : NULL;

    if (step->index < REGISTERS || (base && base->kind != VALUE_NUMBER))
        return false;
    *address = (base ? base->number : 0) + (uint64_t)step->displacement;
    return true;
}

/* The address in memory as a place in a frame, if it is one. */
static bool stack_address(const struct state *now, const struct step *step, uint64_t *frame,
                          int64_t *offset)
{
    const struct value *base = step->base < REGISTERS ? &now->registers[step->base] : NULL;

    if (step->index < REGISTERS || !base || base->kind != VALUE_STACK)
        return false;
    *frame = base->root;
    *offset = (int64_t)(base->number + (uint64_t)step->displacement);
    return true;
}

/* An entry of a table that begins at a known address: [table + index * size]. */
static bool table_entry(const struct state *now, const struct step *step, struct value *entry)
{
    static const struct value zero = {.kind = VALUE_NUMBER};
    const struct value *base = step->base < REGISTERS ? &now->registers[step->base] : &zero;
    const struct value *index = step->index < REGISTERS ? &now->registers[step->index] : &zero;
    unsigned scale = step->index < REGISTERS ? step->scale : 1;
    bool is_by_type = false;
    uint32_t limit;

    if (base->kind != VALUE_NUMBER && index->kind == VALUE_NUMBER && scale == 1) {
        const struct value *other = base;

        base = index;
        index = other;
    }
    if (base->kind != VALUE_NUMBER || index->kind == VALUE_NUMBER || index == &zero ||
        index->kind == VALUE_STACK || scale * index->factor != step->size)
        return false;
    limit = value_limit(index, &is_by_type);
    *entry = fresh(step);
    entry->kind = VALUE_ENTRY;
    entry->number = base->number + (uint64_t)step->displacement;
    entry->entry_size = step->size;
    entry->is_signed = step->is_signed;
    entry->is_by_type = is_by_type;
    entry->is_sum = step->size != 8;
    if (limit != NO_LIMIT && limit / index->factor <= HIGHEST_LIMIT)
        entry->limit = limit / index->factor;
    return true;
}

static struct fact fact_of(const struct state *now, const struct step *step)
{
    struct fact fact = {.is_known = true,
                        .size = step->size,
                        .scale = step->scale,
                        .has_base = step->base < REGISTERS,
                        .has_index = step->index < REGISTERS,
                        .displacement = step->displacement};

    if (fact.has_base)
        fact.base = now->registers[step->base].root;
    if (fact.has_index)
        fact.index = now->registers[step->index].root;
    return fact;
}

static bool is_fact(const struct state *now, const struct step *step)
{
    struct fact fact = fact_of(now, step);
    const struct fact *known = &now->fact;

    return known->is_known && known->size == fact.size && known->scale == fact.scale &&
           known->has_base == fact.has_base && known->has_index == fact.has_index &&
           known->base == fact.base && known->index == fact.index &&
           known->displacement == fact.displacement;
}

struct value state_loaded(const struct state *now, const struct step *step)
{
    unsigned bits = step->size * 8u;
    const struct slot *slot;
    struct value value;
    uint64_t frame;
    int64_t offset;

    if (stack_address(now, step, &frame, &offset)) {
        slot = state_slot(now, frame, offset);
        if (slot && slot->size >= step->size)
            return value_cut(&slot->value, bits, root_of(step, step->to % REGISTERS));
    } else if (is_fact(now, step)) {
        return now->fact.value;
    } else if (step->size >= 4 && table_entry(now, step, &value)) {
        return value;
    }
    return loaded(step, bits);
}

static void load(struct state *now, const struct step *step)
{
    struct value value = state_loaded(now, step);
    uint64_t frame;
    int64_t offset;

    if (stack_address(now, step, &frame, &offset) && !state_slot(now, frame, offset))
        state_store(now, frame, offset, step->size, &value);
    if (step->is_signed && step->size < step->to_size)
        value = value_extend(&value, step->size * 8u, root_of(step, REGISTERS));
    if (step->to_size < 8)
        value = value_cut(&value, 32, root_of(step, REGISTERS));
    now->registers[step->to] = value;
}

static void move(struct state *now, const struct step *step)
{
    const struct value *from = &now->registers[step->from];
    struct value value = *from;

    if (step->is_signed)
        value = value_extend(from, step->size * 8u, root_of(step, REGISTERS));
    else if (step->size < 8)
        value = value_cut(from, step->size * 8u, root_of(step, REGISTERS));
    if (step->to_size < 8)
        value = value_cut(&value, 32, root_of(step, REGISTERS + 1));
    now->registers[step->to] = value;
}

/* lea of index * scale, or of a sum. */
static struct value sum_of(const struct state *now, const struct step *step)
{
    struct value value = fresh(step);
    const struct value *index;
    bool is_by_type = false;
    uint32_t limit;

    if (step->index >= REGISTERS || step->base < REGISTERS || step->displacement)
        return value;
    index = &now->registers[step->index];
    if (index->kind != VALUE_UNKNOWN || step->scale * index->factor > 64)
        return value;
    limit = value_limit(index, &is_by_type);
    value.factor = (uint8_t)(step->scale * index->factor);
    if (limit <= HIGHEST_LIMIT) {
        value.limit = limit * step->scale;
        value.bits = 64;
        value.is_by_type = is_by_type;
    }
    return value;
}

/* An entry of 4 bytes and what it is counted from. */
static bool target_of(const struct value *a, const struct value *b, struct value *target)
{
    const struct value *entry = a->kind == VALUE_ENTRY ? a : b;
    const struct value *origin = entry == a ? b : a;

    if (entry->kind != VALUE_ENTRY || entry->entry_size != 4 || !entry->is_signed ||
        origin->kind != VALUE_NUMBER)
        return false;
    *target = *entry;
    target->kind = VALUE_TARGET;
    target->origin = origin->number;
    return true;
}

static void take_address(struct state *now, const struct step *step)
{
    struct value *to = &now->registers[step->to];
    struct value value;
    uint64_t number, frame;
    int64_t offset;

    if (constant_address(now, step, &number)) {
        value = value_number(root_of(step, step->to), number);
    } else if (stack_address(now, step, &frame, &offset)) {
        value = fresh(step);
        value.kind = VALUE_STACK;
        value.root = frame;
        value.number = (uint64_t)offset;
    } else if (step->base >= REGISTERS || step->index >= REGISTERS || step->scale != 1 ||
               step->displacement ||
               !target_of(&now->registers[step->base], &now->registers[step->index], &value)) {
        value = sum_of(now, step);
    }
    if (step->to_size < 8)
        value = value_cut(&value, 32, root_of(step, REGISTERS));
    *to = value;
}

static void add(struct state *now, const struct step *step, const struct value *addend)
{
    struct value *to = &now->registers[step->to];
    struct value value;

    if (target_of(to, addend, &value))
        *to = value;
    else if (to->kind == VALUE_NUMBER && addend->kind == VALUE_NUMBER)
        *to = value_number(root_of(step, step->to), to->number + addend->number);
    else
        *to = fresh(step);
}

static void add_number(struct state *now, const struct step *step)
{
    struct value *to = &now->registers[step->to];

    if (to->kind == VALUE_STACK || to->kind == VALUE_NUMBER)
        to->number += (uint64_t)step->number;
    else
        *to = fresh(step);
}

static void mask(struct state *now, const struct step *step)
{
    struct value *to = &now->registers[step->to];

    *to = fresh(step);
    if (step->to == X86_RSP) { /* a frame that is aligned: counted from here on */
        to->kind = VALUE_STACK;
        return;
    }
    to->width = step->to_size == 8 && step->number < 0 ? 64 : 32;
    if (step->number >= 0 && step->number <= HIGHEST_LIMIT) {
        to->limit = (uint32_t)step->number;
        to->bits = 64;
        to->is_by_type = true; /* a compiler may know that it is even less */
    }
}

static void shift(struct state *now, const struct step *step)
{
    struct value *to = &now->registers[step->to];
    struct value before = *to;
    unsigned width = step->to_size * 8u, count = (unsigned)step->number & (width - 1);
    bool is_by_type = false;
    uint32_t limit = value_limit(&before, &is_by_type);

    *to = fresh(step);
    to->width = (uint8_t)width;
    to->bits = 64;
    to->is_by_type = is_by_type;
    if (step->kind == STEP_SHIFT_RIGHT) {
        if (limit != NO_LIMIT)
            to->limit = count < 32 ? limit >> count : 0;
        else if (width - count <= 16) {
            to->limit = (1u << (width - count)) - 1;
            to->is_by_type = true;
        }
    } else if (count <= 3 && before.factor << count <= 64 && before.kind == VALUE_UNKNOWN) {
        to->factor = (uint8_t)(before.factor << count);
        if (limit <= HIGHEST_LIMIT)
            to->limit = limit << count;
    }
}

static void compare(struct state *now, const struct step *step, const struct value *value)
{
    unsigned bits = step->size * 8u;

    now->comparison = (struct comparison){.is_known = value->kind == VALUE_UNKNOWN,
                                          .bits = (uint8_t)bits,
                                          .root = value->root,
                                          .number = (uint64_t)step->number};
}

static void compare_load(struct state *now, const struct step *step)
{
    uint64_t frame;
    int64_t offset;
    struct value value = state_loaded(now, step);

    if (stack_address(now, step, &frame, &offset)) {
        const struct slot *slot = state_slot(now, frame, offset);

        if (!slot)
            state_store(now, frame, offset, step->size, &value);
    } else if (!is_fact(now, step)) {
        now->fact = fact_of(now, step);
        now->fact.value = value;
    }
    compare(now, step, &value);
}

/* Whether what is stored lies beside the fact's word: at another distance from the same base. */
static bool is_beside_fact(const struct state *now, const struct step *step)
{
    const struct fact *fact = &now->fact;
    uint64_t behind = (uint64_t)step->displacement - (uint64_t)fact->displacement;
    uint64_t before = (uint64_t)fact->displacement - (uint64_t)step->displacement;

    return fact->has_base == (step->base < REGISTERS) && !fact->has_index &&
           step->index >= REGISTERS &&
           (!fact->has_base || fact->base == now->registers[step->base].root) &&
           behind >= fact->size && before >= step->memory_size;
}

static void store(struct state *now, const struct step *step, const struct value *value)
{
    struct value cut;
    uint64_t frame;
    int64_t offset;

    if (!stack_address(now, step, &frame, &offset)) {
        now->fact.is_known &= is_beside_fact(now, step);
        return;
    }
    if (value && step->size < 8)
        cut = value_cut(value, step->size * 8u, root_of(step, REGISTERS));
    else if (value)
        cut = *value;
    state_store(now, frame, offset, step->memory_size ? step->memory_size : step->size,
                value ? &cut : NULL);
}

static void push(struct state *now, const struct step *step)
{
    struct value *rsp = &now->registers[X86_RSP];
    struct value pushed = {0};

    if (step->from < REGISTERS)
        pushed = now->registers[step->from];
    if (rsp->kind != VALUE_STACK) {
        *rsp = value_fresh(root_of(step, X86_RSP));
        return;
    }
    rsp->number -= 8;
    state_store(now, rsp->root, (int64_t)rsp->number, 8, step->from < REGISTERS ? &pushed : NULL);
}

static void pop(struct state *now, const struct step *step, unsigned to)
{
    struct value *rsp = &now->registers[X86_RSP];
    struct value popped = value_fresh(root_of(step, to));
    const struct slot *slot;

    popped.is_sum = false;
    if (rsp->kind == VALUE_STACK) {
        slot = state_slot(now, rsp->root, (int64_t)rsp->number);
        if (slot && slot->size == 8)
            popped = slot->value;
        rsp->number += 8;
    } else {
        *rsp = value_fresh(root_of(step, X86_RSP));
    }
    now->registers[to] = popped;
}

static void choose(struct state *now, const struct step *step)
{
    struct value *to = &now->registers[step->to];
    bool is_sum = to->is_sum || now->registers[step->from].is_sum;

    *to = fresh(step);
    to->is_sum = is_sum;
}

static void change_others(struct state *now, const struct step *step)
{
    if (step->writes_memory)
        store(now, step, NULL);
    for (unsigned i = 0; i < REGISTERS; i++)
        if (step->writes >> i & 1) {
            now->registers[i] = value_fresh(root_of(step, i));
            if (step->clears >> i & 1)
                now->registers[i].width = 32;
        }
}

static void narrow(struct state *now, const struct step *step)
{
    now->registers[step->to] = fresh(step);
}

void state_step(struct state *now, const struct step *step)
{
    struct value *to = step->to < REGISTERS ? &now->registers[step->to] : NULL;
    bool is_narrow = to && step->to_size < 4 && step->kind != STEP_SIGN;

    if (step->writes_flags)
        now->comparison.is_known = false;
    switch (step->kind) {
    case STEP_ADDRESS:
        take_address(now, step);
        break;
    case STEP_LOAD:
        load(now, step);
        break;
    case STEP_STORE:
        store(now, step, step->from < REGISTERS ? &now->registers[step->from] : NULL);
        break;
    case STEP_MOVE:
        move(now, step);
        break;
    case STEP_NUMBER:
        *to = value_number(root_of(step, step->to),
                           step->to_size == 4 ? (uint32_t)step->number : (uint64_t)step->number);
        break;
    case STEP_ADD:
        add(now, step, &now->registers[step->from]);
        break;
    case STEP_ADD_LOAD: {
        struct value value = state_loaded(now, step);

        add(now, step, &value);
        break;
    }
    case STEP_ADD_NUMBER:
        add_number(now, step);
        break;
    case STEP_MASK:
        mask(now, step);
        break;
    case STEP_SHIFT_LEFT:
    case STEP_SHIFT_RIGHT:
        shift(now, step);
        break;
    case STEP_SIGN:
        *to = value_extend(to, 32, root_of(step, 0));
        break;
    case STEP_COMPARE:
        compare(now, step, &now->registers[step->from]);
        break;
    case STEP_COMPARE_LOAD:
        compare_load(now, step);
        break;
    case STEP_CHOOSE:
        choose(now, step);
        break;
    case STEP_PUSH:
        push(now, step);
        break;
    case STEP_POP:
        pop(now, step, step->to);
        break;
    case STEP_LEAVE:
        now->registers[X86_RSP] = now->registers[X86_RBP];
        pop(now, step, X86_RBP);
        break;
    case STEP_CALL:
        state_call(now, (step->offset + 1ull) * 2);
        break;
    case STEP_JUMP:
    case STEP_JUMP_LOAD:
        break;
    default:
        change_others(now, step);
        break;
    }
    if (is_narrow)
        narrow(now, step);
}
