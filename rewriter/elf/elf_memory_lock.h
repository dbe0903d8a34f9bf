/*
 * mlockall in a static program. No dynamic linker could bind it to the agent, which has to answer
 * it (hooks/linux/locked_memory.h): so its system call is sent there, and the function that makes
 * it, and knows what errno is, stays the C library's.
 *
 *      b8 97 00 00 00    mov  eax, 151       ->    e9 ........          jmp  stub
 *      0f 05             syscall                   66 90                never run
 *      …                                     next: …
 *
 *      stub:    48 8d 0d ........            lea  rcx, [next]           as syscall leaves it
 *               e9 ........                  jmp  umbra_mlockall_call   of the embedded agent
 *
 * Known by these seven bytes, as glibc, musl and others have them, with a name or without. A
 * program that makes the call some other way, as by syscall(SYS_mlockall, …), makes it itself.
 *
 * In a dynamic image they stay, and a function that begins with them is not hooked: the agent tells
 * by them that a mlockall is the C library's.
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
