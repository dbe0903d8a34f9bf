/*
 * mlockall with the result that it has without the agent. The kernel counts the whole address space
 * of a process against its limit, and locks all of it: the reserved range of thunks, the trace,
 * each thread's table. So the agent answers the program's call:
 *
 *      address space   | program | trace | program | libhooks.so | program | stubs |
 *      counted           *****             *****                   *****
 *      locked            *****             *****                   *****
 *
 * What the agent has mapped and what `instrument` has added to images is neither counted nor
 * locked, and what the agent maps later is not either. All else is the kernel's: it is asked to
 * lock one mapping after another, in the calling thread and on its stack.
 *
 * A dynamic program finds the agent's mlockall before the C library's
 * (rewriter/elf/write/elf_dynamic.c). In a static program `instrument` sends the system call itself
 * to umbra_mlockall_call. Other ways of making the system call are not seen.
 */
#ifndef UMBRA_HOOKS_LINUX_LOCKED_MEMORY_H
#define UMBRA_HOOKS_LINUX_LOCKED_MEMORY_H

/* At the agent's beginning. The process may already have called mlockall: then the kernel has
   locked what was mapped of the agent. */
void locked_memory_begin(void);

/* Replaces the system call; returns what it would return. */
long umbra_lock_memory(int flags) __attribute__((visibility("hidden")));

#endif
