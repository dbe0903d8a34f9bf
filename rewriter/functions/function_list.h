/*
 * Functions of an image and what becomes of each. Format-neutral: ELF or PE says where functions
 * may begin; sweeping the code says more; planning decides.
 */
#ifndef UMBRA_REWRITER_FUNCTION_LIST_H
#define UMBRA_REWRITER_FUNCTION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/functions/patch_reason.h"

#define PATCH_JUMP_SIZE       5
#define PATCH_SHORT_JUMP_SIZE 2
#define PATCH_MAX_FILL        16 /* bytes overwritten: what the manifest can keep */
#define PATCH_MAX_DISPLACED   20 /* four bytes, then an instruction of at most 15 */

/* What speaks for a function at this address. */
enum evidence {
    EVIDENCE_SYMBOL = 1,
    EVIDENCE_UNWIND = 2,    /* a FDE begins here */
    EVIDENCE_CALL = 4,      /* a direct call */
    EVIDENCE_POINTER = 8,   /* its address is in data or taken by code */
    EVIDENCE_ENTRY = 16,    /* the image's own: init, fini, entry point */
    EVIDENCE_EXTENT = 32,   /* size comes from a symbol or FDE, not from what follows */
    EVIDENCE_PROLOGUE = 64, /* it sets up a frame of its own from the first instruction on */
};

struct function {
    uint64_t address;
    uint64_t end;     /* one past the last byte: EVIDENCE_EXTENT or up to what follows */
    const char *name; /* borrowed from the image; null if there is none */
    uint32_t unwind;  /* 1 + index of its FDE, 0 if it has none */
    uint32_t owner;   /* of a fragment: 1 + index of the function that jumps to it; of an entry
                         in the middle of a function: that function's; 0 if there is none */
    uint8_t evidence; /* set of enum evidence */
    uint8_t reason;   /* enum patch_reason */
    bool is_guarded;  /* has a handler of its own for faults behind the prologue */
    uint8_t prologue; /* bytes; known if is_guarded */
    bool is_import;   /* at the address of its slot; nothing is patched there */
    bool is_swept;
    bool has_indirect_jump;
    bool is_timed; /* each of its calls is to be timed */
    bool is_leaf; /* no call, loop, jump out or system call, and short: code_leaf.c */
    /* Once planned and hooked: */
    uint8_t patch_offset; /* from address */
    uint8_t displaced;    /* bytes of instructions that move to the stub */
    uint8_t patch_size;   /* bytes overwritten */
    uint64_t hole;        /* address of the hole that PATCH_SHORT_JUMP takes, else 0 */
    uint32_t stub, body;  /* offsets in the stub segment */
};

/*
 * Ascending by address, each address once, after function_list_settle, which makes the index: for each step of
 * 1 << shift bytes from the first function's address on, how many functions begin below it.
 */
struct function_list {
    struct function *items;
    size_t count, room;
    uint32_t *below;
    size_t steps; /* one less than there are numbers in `below`; 0: there is no index */
    unsigned shift;
};

void function_list_add(struct function_list *list, struct function function);
/* Sorts, merges what was found twice and limits each function by what follows it. */
void function_list_settle(struct function_list *list);
struct function *function_list_at(const struct function_list *list, uint64_t address);
/* The last function that begins at or below an address, or null. */
struct function *function_list_below(const struct function_list *list, uint64_t address);
/* The last function that begins at or below an address, but for those in the middle of others; or
   null. */
struct function *function_list_owner(const struct function_list *list, uint64_t address);
void function_list_free(struct function_list *list);

#endif
