/* In whose call a thread was when it executed an instruction: for signal handlers, which interrupt
   anything. */
#ifndef UMBRA_HOOKS_EXECUTED_H
#define UMBRA_HOOKS_EXECUTED_H

#include "hooks/thread.h"

/* The context of the call that the thread was in, by the registers at that moment: on its own stack,
   and not in the agent. The root, if it was in none that is recorded. */
struct trace_node *executed_context(const struct thread *thread, uint64_t instruction,
                                    uint64_t stack_pointer);

#endif
