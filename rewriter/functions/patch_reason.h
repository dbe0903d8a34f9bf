/* What becomes of a function, and why. */
#ifndef UMBRA_REWRITER_PATCH_REASON_H
#define UMBRA_REWRITER_PATCH_REASON_H

#include <stdbool.h>
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
    PATCH_MEMORY_LOCK = 41,     /* makes the system call mlockall: elf/code/elf_memory_lock.h */
    PATCH_FRAME_TABLE = 42,     /* its return addresses are looked up: elf/code/elf_frame_tables.h */
    PATCH_INFO_TABLE = 43,      /* jumped to, never called: elf/code/elf_info_tables.h */
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

/* The word for it; "?" for an unknown number. */
const char *patch_reason_word(uint8_t reason);
bool patch_reason_is_hooked(uint8_t reason);
/* Skipped since there is no safe way to patch it. */
bool patch_reason_is_unsafe(uint8_t reason);

#endif
