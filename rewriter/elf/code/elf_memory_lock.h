/*
 * mlockall in a static program. The agent has to answer that call (hooks/linux/locked_memory.h),
 * and there is no dynamic linker that could bind it to the agent. So the system call in the C
 * library's function is sent to the agent. The function stays, and sets errno.
 *
 *      b8 97 00 00 00    mov  eax, 151       ->    e9 ........          jmp  stub
 *      0f 05             syscall                   66 90                never run
 *      …                                     next: …
 *
 *      stub:    48 8d 0d ........            lea  rcx, [next]           as syscall leaves it
 *               e9 ........                  jmp  umbra_mlockall_call   of the embedded agent
 *
 * The function is recognised by these seven bytes, which glibc, musl and others have, whether it
 * has a name or not. Other ways to make the call, as syscall(SYS_mlockall, …), stay as they are.
 *
 * In a dynamic image the bytes stay, and a function that begins with them is not hooked: the agent
 * recognises the C library's mlockall by them.
 */
#ifndef UMBRA_REWRITER_ELF_MEMORY_LOCK_H
#define UMBRA_REWRITER_ELF_MEMORY_LOCK_H

#include "rewriter/code/code.h"
#include "rewriter/patch/patch_write.h"

#define ELF_MEMORY_LOCKS 16 /* that are looked at; a C library has one */

struct elf_memory_locks {
    struct elf_memory_lock {
        uint64_t address;
        uint32_t stub; /* offset in the stub segment */
    } items[ELF_MEMORY_LOCKS];
    size_t count;
};

/* Finds those of a static program, and decides functions of any image that begin with one:
   PATCH_MEMORY_LOCK. */
void elf_memory_locks_find(struct elf_memory_locks *locks, const struct code *code,
                           const struct code_map *map, struct function_list *functions,
                           bool is_static);

/* Notes what will be overwritten. */
bool elf_memory_locks_note(struct change_list *changes, const struct elf_memory_locks *locks,
                           const struct code *code, const struct patched_file *file,
                           struct failure *failure);

/* Appends the stubs. */
void elf_memory_locks_append(struct stub_segment *stubs, struct elf_memory_locks *locks);

/* Binds the stubs to the agent's function at `target`, and overwrites the code. */
void elf_memory_locks_store(struct stub_segment *stubs, const struct elf_memory_locks *locks,
                            const struct code *code, uint64_t target);

#endif
