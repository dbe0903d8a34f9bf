/*
 * Signal handlers: who calls them is whoever was interrupted.
 *
 *      | frame of f        |
 *      | red zone          |   128 bytes below f's stack pointer
 *      | registers, f's    |   ucontext_t
 *      | return address    |   slot of the handler: where the kernel's own return is called
 *      | handler's frame   |
 *
 * A copy that is interrupted has left no note and has no record. So the registers tell
 * (executed.h).
 */
#ifndef UMBRA_HOOKS_INTERRUPTED_H
#define UMBRA_HOOKS_INTERRUPTED_H

#include "hooks/thread.h"

/* Where handlers return to, once it is known: the hot path takes the slow one there. */
extern uint64_t umbra_handler_return __attribute__((visibility("hidden")));

/* In a slow path, of a call with its slot on the own stack: the context that a signal has interrupted
   there, if a handler is called. Null: it is none, or it has interrupted something else. */
struct trace_node *interrupted_context(const struct thread *thread, const uintptr_t *slot);

#endif
