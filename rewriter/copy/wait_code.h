/*
 * What stands around a system call in a copy: how long it took, so that the agent learns of those that
 * waited.
 *
 *          mov  rcx, [waits]               the kernel destroys rcx and r11: nobody needs them
 *          test rcx, rcx
 *          jz   call                       nobody wants to know
 *          mov  rcx, rax
 *          mov  r11, rdx
 *          rdtsc
 *          shrd eax, edx, WAIT_SHIFT
 *          mov  rdx, [words]               where the thread has its words
 *          mov  fs:[rdx + WAIT], eax       when it began
 *          mov  rdx, r11
 *          mov  rax, rcx
 *  call:   syscall
 *          mov  rcx, [waits]
 *          test rcx, rcx
 *          jz   done
 *          mov  rcx, rax
 *          mov  r11, rdx
 *          rdtsc
 *          shrd eax, edx, WAIT_SHIFT
 *          mov  rdx, [words]
 *          sub  eax, fs:[rdx + WAIT]
 *          cmp  eax, WAIT_SHORT
 *          mov  rdx, r11
 *          mov  rax, rcx
 *          jbe  done
 *          lea  rcx, [done]
 *          jmp  [on_wait]                  which goes on where rcx says
 *          dd   NUMBER                     of the system call, or -1: for the agent
 *  done:
 *
 * Nothing is kept below the stack pointer, where a leaf has its variables, nor above it, so it is right
 * on any stack. A handler that runs meanwhile may begin a wait of its own: then that of the call that it
 * has interrupted is taken for shorter. A system call that the kernel begins again (SA_RESTART) is one,
 * as it goes back to `syscall` itself.
 */
#ifndef UMBRA_REWRITER_WAIT_CODE_H
#define UMBRA_REWRITER_WAIT_CODE_H

#include <stdbool.h>

#include "rewriter/copy/copy_writer.h"
#include "rewriter/flow/flow_syscalls.h"

#define SYSCALL_SIZE 2

/* Whether the instruction at an offset of a function, of which so many bytes are there, is a `syscall`
   that can be timed. Not munmap, as far as it is told by the instruction before: musl gives back a
   thread's stack with it, in which fs is, and goes on to end the thread. */
bool wait_code_can_time(const uint8_t *function, size_t offset, size_t size);

/* Puts that. Flags are to be dead behind it. The number is SYSCALL_UNKNOWN where it is not known. */
void wait_code_put(struct copy_writer *writer, int32_t number);

#endif
