#include "rewriter/flow/flow_values.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

/* Values of joins: their roots differ from those of instructions, which are addresses. */
#define ROOT_JOIN (1ull << 63)

/* What calls need not keep: rax, rcx, rdx, rsi, rdi, r8 to r11; and may return something in. */
#define CALL_CHANGES 0x0fc7
#define CALL_RETURNS 0x0005
#define LOW_NUMBERS  65535 /* rather an index than an address */

struct value value_fresh(uint64_t root)
{
    return (struct value){
        .root = root, .limit = NO_LIMIT, .width = 64, .factor = 1, .is_sum = true};
}

struct value value_number(uint64_t root, uint64_t number)
{
    struct value value = value_fresh(root);

    value.kind = VALUE_NUMBER;
    value.number = number;
    value.is_sum = false;
    return value;
}

uint32_t value_limit(const struct value *value, bool *is_by_type)
{
    if (value->kind == VALUE_NUMBER && value->number < NO_LIMIT)
        return (uint32_t)value->number;
    if (value->limit != NO_LIMIT && value->bits >= value->width) {
        *is_by_type = value->is_by_type;
        return value->limit;
    }
    if (value->width > 16)
        return NO_LIMIT;
    *is_by_type = true;
    return (1u << value->width) - 1;
}

/* Keeps the limit if it is one of the low bits. */
static void cut_limit(struct value *value, unsigned bits)
{
    if (value->limit == NO_LIMIT || value->bits <= bits)
        return;
    if (bits < 32 && value->limit >> bits)
        value->limit = NO_LIMIT;
    value->bits = (uint8_t)bits;
}

struct value value_cut(const struct value *value, unsigned bits, uint64_t root)
{
    struct value cut = *value;

    if (value->kind == VALUE_NUMBER)
        return value_number(root, bits < 64 ? value->number & ((1ull << bits) - 1) : value->number);
    if (value->width <= bits)
        return cut;
    if (value->kind == VALUE_ENTRY && value->entry_size == 4 && bits == 32) {
        cut.is_signed = false;
        return cut;
    }
    if (value->kind != VALUE_UNKNOWN) {
        cut = value_fresh(root);
        cut.width = (uint8_t)bits;
        return cut;
    }
    cut.width = (uint8_t)bits;
    cut_limit(&cut, bits);
    return cut;
}

struct value value_extend(const struct value *value, unsigned bits, uint64_t root)
{
    struct value cut = value_cut(value, bits, root);
    bool is_by_type = false;
    uint32_t limit = value_limit(&cut, &is_by_type);

    if (value->kind == VALUE_ENTRY && value->entry_size == 4 && bits == 32) {
        cut = *value;
        cut.is_signed = true;
        return cut;
    }
    if (cut.width < bits || (limit != NO_LIMIT && !(limit >> (bits - 1))))
        return cut;
    return value_fresh(root);
}

void state_unknown(struct state *state, uint64_t place)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        state->registers[i] = value_fresh(ROOT_JOIN | (place * REGISTERS + i));
    for (unsigned i = 0; i < REGISTERS; i++)
        state->registers[i].is_sum = false;
    state->fact.is_known = state->comparison.is_known = false;
    state->slot_count = 0;
}

static void bound(struct value *value, uint64_t root, unsigned bits, uint32_t limit)
{
    unsigned covered = value->width < bits ? value->width : bits;

    if (value->kind != VALUE_UNKNOWN || value->root != root)
        return;
    if (covered < 32 && limit >> covered)
        return;
    if (value->limit != NO_LIMIT && value->bits >= value->width &&
        (covered >= 32 || !(value->limit >> covered)))
        covered = value->width; /* there is nothing in its other bits */
    if (value->limit != NO_LIMIT && value->bits >= covered && value->limit <= limit)
        return;
    value->limit = limit;
    value->bits = (uint8_t)covered;
    value->is_by_type = false;
}

void state_bound(struct state *state, uint64_t root, unsigned bits, uint32_t limit)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        bound(&state->registers[i], root, bits, limit);
    for (uint32_t i = 0; i < state->slot_count; i++)
        bound(&state->slots[i].value, root, bits, limit);
    if (state->fact.is_known)
        bound(&state->fact.value, root, bits, limit);
}

const struct slot *state_slot(const struct state *state, uint64_t frame, int64_t offset)
{
    for (uint32_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].offset == offset && state->slots[i].frame == frame)
            return &state->slots[i];
    return NULL;
}

static bool overlaps(const struct slot *slot, uint64_t frame, int64_t offset, uint32_t size)
{
    uint64_t behind = (uint64_t)offset - (uint64_t)slot->offset;
    uint64_t before = (uint64_t)slot->offset - (uint64_t)offset;

    return slot->frame == frame && (behind < slot->size || before < size);
}

static void slot_remove(struct state *state, uint32_t i)
{
    memmove(&state->slots[i], &state->slots[i + 1],
            (--state->slot_count - i) * sizeof(*state->slots));
}

void state_store(struct state *state, uint64_t frame, int64_t offset, uint32_t size,
                 const struct value *value)
{
    for (uint32_t i = state->slot_count; i-- > 0;)
        if (overlaps(&state->slots[i], frame, offset, size))
            slot_remove(state, i);
    if (!value)
        return;
    if (state->slot_count == MOST_SLOTS)
        slot_remove(state, 0);
    state->slots[state->slot_count++] = (struct slot){frame, offset, size, *value};
}

/* A callee may change what it was given the address of; a spilled address of a table is not that.
   Other slots may be: only the compiler knows. */
static void keep_over_call(struct state *state)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].value.kind != VALUE_UNKNOWN)
            state->slots[kept++] = state->slots[i];
    state->slot_count = kept;
}

void state_call(struct state *state, uint64_t place)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if (CALL_CHANGES >> i & 1) {
            state->registers[i] = value_fresh(place * REGISTERS + i);
            state->registers[i].is_sum = false;
            state->registers[i].is_lost = !(CALL_RETURNS >> i & 1);
        }
    state->fact.is_known = state->comparison.is_known = false;
    keep_over_call(state);
}

static bool value_equals(const struct value *a, const struct value *b)
{
    return a->root == b->root && a->kind == b->kind && a->number == b->number &&
           a->origin == b->origin && a->limit == b->limit && a->bits == b->bits &&
           a->width == b->width && a->factor == b->factor && a->entry_size == b->entry_size &&
           a->is_signed == b->is_signed && a->is_by_type == b->is_by_type &&
           a->is_lost == b->is_lost && a->is_sum == b->is_sum;
}

static bool is_same_thing(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_UNKNOWN)
        return a->root == b->root;
    return a->number == b->number && a->origin == b->origin && a->entry_size == b->entry_size &&
           a->is_signed == b->is_signed && (a->kind != VALUE_STACK || a->root == b->root);
}

/* The limit of values that are both unknown, or one a number: the greater one. */
static void join_whole_limit(struct value *into, const struct value *from, bool is_wide)
{
    bool is_by_type = false, is_other_by_type = false;
    uint32_t limit = value_limit(into, &is_by_type);
    uint32_t other = value_limit(from, &is_other_by_type);

    into->is_by_type = (is_by_type || is_other_by_type) && limit != NO_LIMIT && other != NO_LIMIT;
    if (limit == NO_LIMIT || other == NO_LIMIT || (is_wide && limit != other))
        into->limit = NO_LIMIT;
    else
        into->limit = limit > other ? limit : other;
    into->width = into->width > from->width ? into->width : from->width;
    into->bits = into->width;
}

/* Joins entries of the same table; the result's limit is the index's. */
static void join_index_limit(struct value *into, const struct value *from, bool is_wide)
{
    if (into->limit != from->limit)
        into->limit = is_wide || into->limit > from->limit ? into->limit : from->limit;
    if (is_wide && into->limit != from->limit)
        into->limit = NO_LIMIT;
    into->is_by_type |= from->is_by_type;
}

static bool is_plain(const struct value *value)
{
    return value->kind == VALUE_UNKNOWN || value->kind == VALUE_NUMBER;
}

static bool is_address(const struct value *value)
{
    return value->kind == VALUE_NUMBER && value->number > LOW_NUMBERS;
}

/*
 * Whether the joined value is another one. No compiler uses what a call has lost: where such a
 * value meets an address, the call has not returned.
 */
static bool value_join(struct value *into, const struct value *from, uint64_t root, bool is_wide)
{
    struct value before = *into;

    if (value_equals(into, from) || (is_address(into) && from->is_lost))
        return false;
    if (into->is_lost && is_address(from)) {
        *into = *from;
        return true;
    }
    into->is_lost &= from->is_lost;
    into->factor = into->factor < from->factor ? into->factor : from->factor;
    into->is_sum |= from->is_sum;
    if (is_same_thing(into, from)) {
        if (into->kind == VALUE_UNKNOWN)
            join_whole_limit(into, from, is_wide);
        else
            join_index_limit(into, from, is_wide);
    } else if (is_plain(into) && is_plain(from)) {
        join_whole_limit(into, from, is_wide);
        into->kind = VALUE_UNKNOWN;
        into->number = 0;
        into->root = root;
    } else {
        struct value unknown = value_fresh(root);

        unknown.is_sum = into->is_sum;
        unknown.is_lost = into->is_lost;
        *into = unknown;
    }
    return !value_equals(&before, into);
}

static bool fact_equals(const struct fact *a, const struct fact *b)
{
    return a->is_known == b->is_known &&
           (!a->is_known ||
            (a->size == b->size && a->scale == b->scale && a->has_base == b->has_base &&
             a->has_index == b->has_index && a->base == b->base && a->index == b->index &&
             a->displacement == b->displacement && value_equals(&a->value, &b->value)));
}

static bool comparison_equals(const struct comparison *a, const struct comparison *b)
{
    return a->is_known == b->is_known &&
           (!a->is_known || (a->bits == b->bits && a->root == b->root && a->number == b->number));
}

static bool join_slots(struct state *into, const struct state *from, bool is_wide)
{
    bool is_changed = false;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < into->slot_count; i++) {
        struct slot *slot = &into->slots[i];
        const struct slot *other = state_slot(from, slot->frame, slot->offset);

        if (!other || other->size != slot->size || !is_same_thing(&slot->value, &other->value)) {
            is_changed = true;
            continue;
        }
        is_changed |= value_join(&slot->value, &other->value, 0, is_wide);
        into->slots[kept++] = *slot;
    }
    into->slot_count = kept;
    return is_changed;
}

bool state_join(struct state *into, const struct state *from, uint64_t place, bool is_wide)
{
    bool is_changed = false;

    for (unsigned i = 0; i < REGISTERS; i++)
        is_changed |= value_join(&into->registers[i], &from->registers[i],
                                 ROOT_JOIN | (place * REGISTERS + i), is_wide);
    is_changed |= join_slots(into, from, is_wide);
    if (into->fact.is_known && !fact_equals(&into->fact, &from->fact)) {
        into->fact.is_known = false;
        is_changed = true;
    }
    if (into->comparison.is_known && !comparison_equals(&into->comparison, &from->comparison)) {
        into->comparison.is_known = false;
        is_changed = true;
    }
    return is_changed;
}

bool state_equals(const struct state *a, const struct state *b)
{
    if (a->slot_count != b->slot_count || !fact_equals(&a->fact, &b->fact) ||
        !comparison_equals(&a->comparison, &b->comparison))
        return false;
    for (unsigned i = 0; i < REGISTERS; i++)
        if (!value_equals(&a->registers[i], &b->registers[i]))
            return false;
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (a->slots[i].frame != b->slots[i].frame || a->slots[i].offset != b->slots[i].offset ||
            a->slots[i].size != b->slots[i].size ||
            !value_equals(&a->slots[i].value, &b->slots[i].value))
            return false;
    return true;
}

void state_assign(struct state *to, const struct state *from)
{
    struct slot *slots = to->slots;

    if (from->slot_count > to->slot_count || !slots) {
        free(slots);
        slots = memory_zeroed(from->slot_count + 1u, sizeof(*slots));
    }
    *to = *from;
    to->slots = slots;
    if (from->slot_count)
        memcpy(slots, from->slots, from->slot_count * sizeof(*slots));
}

void state_free(struct state *state)
{
    free(state->slots);
    state->slots = NULL;
}
