/*
 * The code of an image and what a sweep over it learns. An image format fills in `struct code`;
 * the rest knows no format.
 *
 *      code_discover   finds every function, round by round, with
 *      code_sweep      what an instruction refers to
 *      code_leaf       whether the agent need not see it return
 *      code_tables     jump tables, in data and between instructions
 *      code_classify   and, once all is swept, tells fragments from functions
 */
#ifndef UMBRA_REWRITER_CODE_H
#define UMBRA_REWRITER_CODE_H

#include "rewriter/code/processor.h"
#include "rewriter/functions/function_list.h"

#define CODE_BYTE_WORK 16 /* units that sweeping a byte costs */

struct code_range {
    uint64_t address;
    uint8_t *bytes;
    uint64_t size;
};

/* Where the return address lies while the instructions up to `until` run: [base + offset]. */
struct return_slot {
    enum { RETURN_SLOT_UNKNOWN, RETURN_SLOT_RSP, RETURN_SLOT_RBP } base;
    int64_t offset;
    uint64_t until; /* first address for which to ask again */
};

/* Unwind information, asked for rising addresses of one function at a time. */
struct code_unwind {
    void *context;
    void (*begin)(void *context, const struct function *function);
    struct return_slot (*slot_at)(void *context, uint64_t address);
};

struct code {
    const struct processor *processor;
    struct code_range *ranges; /* executable, ascending, none overlaps another */
    size_t range_count, range_room;
    struct code_range *data; /* all that are not executable; ascending, none overlaps another */
    size_t data_count, data_room;
    struct code_unwind unwind;
    bool has_absolute_code;     /* linked to a fixed address: code may hold addresses as numbers */
    bool has_listed_pointers;   /* relocations tell of all addresses of code that data hold */
    bool has_unlisted_pointers; /* data may hold addresses of code, and no relocations tell where */
    bool moves_relocated;       /* what moves takes the words with it that a loader fills in, as operands */
    uint64_t table_origin; /* what entries of jump tables in code count from; 0: there are none */
    /* Of the global offset table, which PIC code of 32 bits has in a register: addresses and jump tables are
       distances from it; 0: there is none, or code does not use it so. */
    uint64_t got;
};

/* To ranges or to data, whose order the caller sees to. */
void code_add_range(struct code *code, struct code_range range, bool is_executable);
/* To the list: a function at an address, of that size or, if it is 0, up to the end of the range;
   nothing if there is no code. The rest is as in `function`. */
void code_add_function(const struct code *code, struct function_list *list, uint64_t address,
                       uint64_t size, struct function function);

const struct code_range *code_range_at(const struct code *code, uint64_t address);
/* Bytes from an address to the end of its range; null if it is not code. */
const uint8_t *code_at(const struct code *code, uint64_t address, size_t *size);
const uint8_t *code_data_at(const struct code *code, uint64_t address, size_t *size);

/* What of a sum or difference is an address. */
static inline uint64_t code_address_mask(const struct code *code)
{
    return UINT64_MAX >> (64 - 8 * code->processor->pointer_size);
}

/* A pointer, as data holds them. */
uint64_t code_pointer_at(const struct code *code, const uint8_t *bytes);

/* A set of code addresses, one bit each. */
struct address_set {
    uint64_t base, size; /* addresses it can hold */
    uint64_t *words;
};

void address_set_init(struct address_set *set, const struct code *code);

static inline void address_set_add(struct address_set *set, uint64_t address)
{
    uint64_t at = address - set->base;

    if (at < set->size)
        set->words[at / 64] |= 1ull << at % 64;
}

static inline bool address_set_has(const struct address_set *set, uint64_t address)
{
    uint64_t at = address - set->base;

    return at < set->size && set->words[at / 64] >> at % 64 & 1;
}

/* The first member at or above an address and below an end; the end if there is none. */
uint64_t address_set_next(const struct address_set *set, uint64_t address, uint64_t end);

enum branch_kind {
    BRANCH_JUMP,
    BRANCH_CONDITION,
    BRANCH_TABLE, /* perhaps: what may be an entry of a jump table of the source's function */
};

/* A jump between functions, or one to the first bytes of its own. */
struct branch {
    uint64_t target, source;
    uint8_t kind;   /* enum branch_kind */
    uint8_t length; /* of the instruction */
    bool is_near;   /* its last four bytes are the displacement */
};

/* Data that may be a jump table of the function from start to end; its entries are distances. */
struct code_table {
    uint64_t address, start, end;
    uint64_t origin; /* what they are counted from */
};

/* `call [rip + n]` or `jmp [rip + n]`, found in a function or in a gap. */
struct slot_use {
    uint64_t slot;        /* address of the operand */
    uint64_t instruction; /* address, its prefix included */
    uint64_t opcode;      /* address of its last six bytes: ff, 15 or 25, displacement */
    bool is_call;
};

/* Code that was swept as part of a function whose end is known by the next function only. */
struct swept {
    uint64_t start, stop; /* what was decoded, from instruction to instruction, */
    uint64_t end;         /* and where the function ended then */
};

/* What all code swept so far refers to. */
struct code_map {
    struct address_set calls, jumps, pointers;
    struct address_set inline_tables; /* where tables between instructions begin */
    struct address_set landmarks;     /* in `swept`: see code_sweep.c */
    struct swept *swept;              /* none overlaps another; ascending but for this round's */
    size_t swept_count, swept_room;
    size_t swept_before;     /* of them, before this round */
    struct branch *branches; /* ascending by target once swept */
    size_t branch_count, branch_room;
    struct code_table *tables;
    size_t table_count, table_room;
    uint64_t work_left;         /* units of work that discovery may still spend */
    bool is_exhausted;          /* it would have taken more: what was found is not to be used */
    struct slot_use *slot_uses; /* ascending by opcode, each once, when all is swept */
    size_t slot_use_count, slot_use_room;
    uint64_t *relocated; /* words of code that a loader fills in; ascending once swept */
    size_t relocated_count, relocated_room;
};

void code_map_init(struct code_map *map, const struct code *code);
/* Spends work; false once there is none left. */
bool code_map_spend_work(struct code_map *map, uint64_t work);
void code_map_free(struct code_map *map);
void code_map_add(struct code_map *map, struct branch branch);
void code_map_add_slot_use(struct code_map *map, struct slot_use use);
void code_map_add_table(struct code_map *map, struct code_table table);
/* A loader fills in a word at this address. Nothing if it is not code. */
void code_map_add_relocated(struct code_map *map, const struct code *code, uint64_t address);

/* Puts what the sweeps noted in order. */
void code_map_settle(struct code_map *map);

/* Place among map->relocated of the first word of that size that ends behind an address. */
size_t code_map_relocated_from(const struct code_map *map, uint64_t address, uint64_t word_size);

/* Whether a loader fills in any of these bytes, with words of that size. To be asked once settled. */
bool code_map_is_relocated(const struct code_map *map, uint64_t address, uint64_t end,
                           uint64_t word_size);

/* Where a sweep has been, in a round before this one; null if none has. */
const struct swept *code_map_swept_at(const struct code_map *map, uint64_t address);
void code_map_add_swept(struct code_map *map, struct swept swept);
/* To be called when a round of sweeps is over. */
void code_map_end_round(struct code_map *map);
/* Gives back what only sweeps need. */
void code_map_end_sweeps(struct code_map *map);

/* First branch whose target is at or above an address. */
size_t code_map_branches_from(const struct code_map *map, uint64_t target);

#endif
