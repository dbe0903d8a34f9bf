/*
 * Functions of an image and what becomes of each. Format-neutral: ELF or PE says where functions
 * may begin; sweeping the code says more; planning decides.
 */
#ifndef UMBRA_REWRITER_PATCH_H
#define UMBRA_REWRITER_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* manifest_function.reason: how a function was hooked, or why it was not. docs/list.md. */
enum patch_reason {
    PATCH_UNDECIDED = 0,
    /* hooked */
    PATCH_PLAIN = 1,      /* displaced instructions moved as they are */
    PATCH_ADJUSTED = 2,   /* an operand, branch or call among them was fixed up */
    PATCH_PADDING = 3,    /* shorter than the jump, padding behind it was used */
    PATCH_SHORT_JUMP = 4, /* a jump of two bytes to a hole, and one from there */
    PATCH_REDIRECTED = 5, /* left whole: what leads to it goes to the stub */
    PATCH_IMPORT = 16,    /* of another image: its call sites go to a stub */
    /* skipped, not a function to be hooked */
    PATCH_FRAGMENT = 32,          /* a part of another function, split off by the compiler */
    PATCH_NO_RETURN_ADDRESS = 33, /* entered without one where a call puts it: _start */
    PATCH_SIGNAL_FRAME = 34,
    PATCH_PLT = 35,
    PATCH_RETURN_ADDRESS = 36, /* reads its own return address */
    PATCH_RETURNS_TWICE = 37,  /* setjmp, vfork, getcontext */
    PATCH_UNWINDER = 38,
    PATCH_INSIDE_FUNCTION = 39, /* called, but in the middle of another function */
    PATCH_GENERATED = 40,       /* the program's own code generator made it: V8's builtins */
    PATCH_IMPORT_SPECIAL = 47,  /* not called as functions are: __tls_get_addr */
    /* skipped, as the user wants */
    PATCH_EXCLUDED = 48,
    /* skipped, no safe way to patch it */
    PATCH_TOO_SHORT = 64,
    PATCH_BRANCH_TARGET = 65, /* something jumps into the bytes that would be replaced */
    PATCH_LOOP_AT_ENTRY = 66, /* jumps back to its first instruction by a short branch */
    PATCH_CALL_IN_PATCH = 67, /* would return into the bytes replaced */
    PATCH_UNMOVABLE = 68,     /* an instruction that works at its own address only */
    PATCH_UNDECODABLE = 69,
    PATCH_GUARDED = 70, /* a fault would not get to the function's own handler */
};

#define PATCH_JUMP_SIZE       5
#define PATCH_SHORT_JUMP_SIZE 2
#define PATCH_MAX_FILL        16 /* bytes overwritten: what the manifest can keep */
#define PATCH_MAX_DISPLACED   20 /* four bytes, then an instruction of at most 15 */

/* The word for it; "?" for an unknown number. */
const char *patch_reason_word(uint8_t reason);
bool patch_reason_is_hooked(uint8_t reason);

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
    bool is_leaf; /* no call, loop, jump out or system call, and short: code_leaf.c */
    /* Once planned and hooked: */
    uint8_t patch_offset; /* from address */
    uint8_t displaced;    /* bytes of instructions that move to the stub */
    uint8_t patch_size;   /* bytes overwritten */
    uint64_t hole;        /* address of the hole that PATCH_SHORT_JUMP takes, else 0 */
    uint32_t stub, body;  /* offsets in the stub segment */
};

/* Ascending by address, each address once, after function_list_settle. */
struct function_list {
    struct function *items;
    size_t count, room;
};

void function_list_add(struct function_list *list, struct function function);
/* Sorts, merges what was found twice and limits each function by what follows it. */
void function_list_settle(struct function_list *list);
struct function *function_list_at(const struct function_list *list, uint64_t address);
/* The last function that begins at or below an address, or null. */
struct function *function_list_below(const struct function_list *list, uint64_t address);
/* Likewise, but passing over entries in the middle of others. */
struct function *function_list_owner(const struct function_list *list, uint64_t address);
void function_list_free(struct function_list *list);

#endif
