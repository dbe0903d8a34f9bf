/*
 * What registers and stack slots may hold at a place in a function.
 *
 * A value has a root: two values with the same root agree in the bits that both have. So a
 * comparison of one says something about all that have its root, wherever they were moved to.
 */
#ifndef UMBRA_REWRITER_FLOW_VALUES_H
#define UMBRA_REWRITER_FLOW_VALUES_H

#include "rewriter/flow/flow_steps.h"

#define NO_LIMIT UINT32_MAX

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_NUMBER, /* `number`, which may be an address */
    VALUE_STACK,  /* number: from the stack pointer of frame `root` */
    VALUE_ENTRY,  /* of a table: entry_size bytes, limit + 1 entries from number on */
    VALUE_TARGET, /* origin + such an entry, of 4 bytes */
};

struct value {
    uint64_t root;
    uint64_t number;
    uint64_t origin;
    uint32_t limit; /* the low `bits` bits are not greater; NO_LIMIT: not known */
    uint8_t kind;   /* enum value_kind */
    uint8_t bits;
    uint8_t width;  /* bits that may be set: 8, 16, 32 or 64 */
    uint8_t factor; /* a power of two that divides it: 1 ... 128 */
    uint8_t entry_size;
    bool is_signed;  /* an entry of 4 bytes: sign-extended */
    bool is_by_type; /* limit is that of an index of 8 or 16 bits */
    bool is_lost;    /* unknown, as a call need not keep it and returns nothing in it */
    bool is_sum;     /* may have been computed, rather than be loaded as a whole */
};

struct slot {
    uint64_t frame; /* root of the stack pointer that it is found by */
    int64_t offset;
    uint32_t size;
    struct value value;
};

/* The last word in memory that was compared, and what is known of it. */
struct fact {
    bool is_known;
    uint8_t size, scale;
    bool has_base, has_index;
    uint64_t base, index; /* roots */
    int64_t displacement;
    struct value value;
};

/* A comparison whose flags are alive. */
struct comparison {
    bool is_known;
    uint8_t bits;
    uint64_t root, number;
};

#define MOST_SLOTS 48

struct state {
    struct value registers[REGISTERS];
    struct fact fact;
    struct comparison comparison;
    struct slot *slots; /* room for MOST_SLOTS where values are moved */
    uint32_t slot_count;
};

/* Nothing is known but that it is 64 bits wide. */
struct value value_fresh(uint64_t root);
struct value value_number(uint64_t root, uint64_t number);
/* The low bits of a value: zero-extended by value_cut, sign-extended to 64 bits by value_extend. `root` is
   for a result that has none else. */
struct value value_cut(const struct value *value, unsigned bits, uint64_t root);
struct value value_extend(const struct value *value, unsigned bits, uint64_t root);
/* The limit of a value as a whole; NO_LIMIT if there is none. */
uint32_t value_limit(const struct value *value, bool *is_by_type);

/* The state at a function's entry, of which nothing is known; `place` makes its roots unique. */
void state_unknown(struct state *state, uint64_t place);
/* What holds the values with that root is not greater in its low bits. */
void state_bound(struct state *state, uint64_t root, unsigned bits, uint32_t limit);

/* The value stored at an offset in a frame; null if it is not known. */
const struct slot *state_slot(const struct state *state, uint64_t frame, int64_t offset);
void state_store(struct state *state, uint64_t frame, int64_t offset, uint32_t size,
                 const struct value *value); /* null: unknown */
/* What a call leaves. */
void state_call(struct state *state, uint64_t place);

/* Puts what holds in both into `into`; whether that changed it. `place` as above; limits that
   differ are dropped if is_wide. */
bool state_join(struct state *into, const struct state *from, uint64_t place, bool is_wide);
bool state_equals(const struct state *a, const struct state *b);
/* Copies it; `to` owns its slots, which state_free gives back. */
void state_assign(struct state *to, const struct state *from);
void state_free(struct state *state);

#endif
