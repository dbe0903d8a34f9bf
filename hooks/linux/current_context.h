/* In whose call a thread is, on whatever stack: for what runs on the thread itself, amid anything. */
#ifndef UMBRA_HOOKS_LINUX_CURRENT_CONTEXT_H
#define UMBRA_HOOKS_LINUX_CURRENT_CONTEXT_H

#include "hooks/thread.h"

/* By the instruction and the stack pointer; the thread is in none of its slow paths. The root, if the
   call is in none that is recorded. */
struct trace_node *current_context(struct thread *thread, uint64_t instruction,
                                   uint64_t stack_pointer);

#endif
