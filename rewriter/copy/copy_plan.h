/*
 * Which functions' bodies are copied.
 *
 * A member is a function or a fragment. It is certain if the flow analysis says so (flow.h), if it is
 * known where the return address lies at each call and jump out, and if no code that is not copied
 * enters its middle. Members that jump into each other's middles are a family: they are copied together or not at
 * all.
 *
 * Where a table cannot be written (flow_table.is_bounded), the original gets trampolines:
 *
 *      target:    jmp  copy of target          e9 ........
 *
 * or, where less than five bytes are free, a jump through a hole in the same original, whose bytes
 * nobody runs any more:
 *
 *      target:    jmp  short hole              eb ..
 *      hole:      jmp  copy of target          e9 ........
 */
#ifndef UMBRA_REWRITER_COPY_PLAN_H
#define UMBRA_REWRITER_COPY_PLAN_H

#include "rewriter/copy/copy_source.h"
#include "rewriter/flow/flow_registers.h"

/* In `doubts`: it is neither hooked nor a fragment of what is. */
#define COPY_NO_MEMBER 0xff

/* {0}: nothing is copied. copy_plan_free ends it. */
struct copy_plan {
    uint8_t *doubts; /* of each function of the list: enum flow_doubt or COPY_NO_MEMBER */
    size_t count;    /* 0: nothing is copied */
    struct copy_table {
        struct flow_table table;
        uint32_t member; /* that jumps through it */
    } *tables;        /* of what is copied; ascending by jump */
    size_t table_count, table_room;
    /* Entries of tables that are to lead to copies: what they are now. Ascending by slot. */
    struct copy_word {
        uint64_t slot, target;
        uint64_t origin; /* that it counts from, or 0 */
        uint8_t size;
    } *words;
    size_t word_count, word_room;
    struct copy_trampoline {
        uint64_t address; /* in the original; ascending */
        uint64_t hole;    /* 0: none is needed */
    } *trampolines;
    size_t trampoline_count, trampoline_room;
    struct address_set occupied; /* bytes of code that are overwritten otherwise, and trampolines */
    bool marks_blocks;           /* that run (copy_blocks.h), which leaders begin */
    bool counts_blocks;          /* how often each runs (copy_blocks.h, copy_ways.h) */
    bool has_lanes;              /* with that: in each thread (IMAGE_LANES) */
    bool counts_no_calls;        /* nothing stands in front of calls */
    struct address_set leaders;
    bool counts_instructions;    /* that functions execute (copy_count.h) */
    struct address_set entered;  /* with these two: where control comes from elsewhere */
    bool is_poisoned;            /* what is copied is overwritten with int3, for tests */
    uint32_t salt;               /* of the image: it is in the keys of its contexts */
    uint32_t *families;          /* of each member: the one that stands for its family */
    struct flow_import *imports; /* as in flow_source */
    size_t import_count;
    struct flow_registers registers; /* that are dead at calls */
};

void copy_plan_free(struct copy_plan *plan);

/* Bytes that are overwritten at its address. */
static inline size_t copy_trampoline_size(const struct copy_trampoline *trampoline)
{
    return trampoline->hole ? PATCH_SHORT_JUMP_SIZE : PATCH_JUMP_SIZE;
}

/* Whether a function, by its place in the list, is copied. */
bool copy_plan_has(const struct copy_plan *plan, size_t function);

/* The member that stands for those that are copied with this one. */
uint32_t copy_plan_family(const struct copy_plan *plan, uint32_t member);

/* What the contexts of a member's functions are known by: of its family, and most likely of this image
   alone. */
uint32_t frame_key_of(const struct copy_plan *plan, uint32_t member);

/* Adds where control comes to by entries of tables, trampolines and landing pads. */
void copy_plan_add_entries(const struct copy_plan *plan, const struct flow_source *source,
                           struct address_set *set);

/* Whether a table is known by that indirect jump. */
bool copy_plan_is_table_jump(const struct copy_plan *plan, uint64_t jump);

#endif
