/*
 * The system call mlockall. In a static program it is sent to the agent (elf_memory_lock_stubs.h).
 * In a dynamic image the bytes stay, and a function that begins with them is not hooked: the agent
 * recognises the C library's mlockall by them.
 *
 *      b8 97 00 00 00    mov  eax, 151
 *      0f 05             syscall
 *
 * The function is recognised by these seven bytes, which glibc, musl and others have, whether it
 * has a name or not. Other ways to make the call, as syscall(SYS_mlockall, …), stay as they are.
 */
#ifndef UMBRA_REWRITER_ELF_MEMORY_LOCK_H
#define UMBRA_REWRITER_ELF_MEMORY_LOCK_H

#include "rewriter/code/code.h"

#define ELF_MEMORY_LOCKS 16 /* that are looked at; a C library has one */

struct elf_memory_locks {
    uint64_t items[ELF_MEMORY_LOCKS]; /* where the bytes are */
    size_t count;
};

/* Finds those of a static program, and decides functions of any image that begin with one:
   PATCH_MEMORY_LOCK. */
void elf_memory_locks_find(struct elf_memory_locks *locks, const struct code *code,
                           const struct code_map *map, struct function_list *functions,
                           bool is_static);

#endif
