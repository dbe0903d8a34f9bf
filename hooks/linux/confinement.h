/*
 * Programs that forbid themselves system calls (seccomp), as servers do in the process that speaks
 * to strangers. A call of the agent's that is not allowed would end the program. So the agent looks
 * at each filter before it is installed:
 *
 *      program                             agent
 *      prctl(PR_SET_SECCOMP, …)       ->   runs the filter for each of its own calls, and forbids
 *      syscall(SYS_seccomp, …)             itself those that are not allowed; gets ready what it
 *                                          could not get later
 *                                     ->   on to the C library's function
 *
 * From then on such calls fail within the agent (thunkstash/linux/syscalls.h), as if the kernel had
 * no memory or no answer: contexts that are known are counted on, and what cannot be recorded is
 * counted as dropped or skipped. Where the processor's clock is not to be read any more (strict
 * mode, and PR_SET_TSC unless calls are only counted), recording ends.
 *
 * The dynamic linker finds the agent's prctl and syscall before the C library's, as it finds its
 * mlockall (locked_memory.h). A filter that is installed by an instruction of the program's own is
 * not seen, nor one in a static program, nor one that was there when the program was executed.
 */
#ifndef UMBRA_HOOKS_LINUX_CONFINEMENT_H
#define UMBRA_HOOKS_LINUX_CONFINEMENT_H

#include <stdint.h>

/* Called by the agent's prctl and syscall, before the C library's are. */
void umbra_before_prctl(uintptr_t operation, uintptr_t mode, uintptr_t program)
    __attribute__((visibility("hidden")));
void umbra_before_syscall(uintptr_t number, uintptr_t operation, uintptr_t flags, uintptr_t program)
    __attribute__((visibility("hidden")));

#endif
