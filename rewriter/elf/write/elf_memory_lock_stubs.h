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
 */
#ifndef UMBRA_REWRITER_ELF_MEMORY_LOCK_STUBS_H
#define UMBRA_REWRITER_ELF_MEMORY_LOCK_STUBS_H

#include "rewriter/elf/code/elf_memory_lock.h"
#include "rewriter/patch/patch_write.h"

#define ELF_MEMORY_LOCK_STUB_SIZE 12

/* Notes what will be overwritten. */
bool elf_memory_locks_note(struct change_list *changes, const struct elf_memory_locks *locks,
                           const struct code *code, const struct patched_file *file,
                           struct failure *failure);

/* Appends the stubs, one behind the other; returns the offset of the first in the segment. */
size_t elf_memory_locks_append(struct stub_segment *stubs, const struct elf_memory_locks *locks);

/* Binds the stubs, the first of which is at that offset, to the agent's function at `target`, and
   overwrites the code. */
void elf_memory_locks_store(struct stub_segment *stubs, size_t first,
                            const struct elf_memory_locks *locks, const struct code *code,
                            uint64_t target);

#endif
