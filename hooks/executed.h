/* Whose code is at an address, and in whose call a thread was when it executed that: for signal
   handlers, which interrupt anything. */
#ifndef UMBRA_HOOKS_EXECUTED_H
#define UMBRA_HOOKS_EXECUTED_H

#include "hooks/thread.h"

struct executed {
    uint32_t function; /* number, without its flags; 0: of no function that is known */
    bool is_copy;
    bool is_added; /* in what `instrument` has added to an image: a copy, a stub */
};

/* May be called in a signal handler. */
struct executed executed_at(uint64_t address);

/* The context of the call that the thread was in, by the registers at that moment: on its own stack,
   and not in the agent. The root, if it was in none that is recorded. */
struct trace_node *executed_context(const struct thread *thread, uint64_t instruction,
                                    uint64_t stack_pointer);

#endif
