/*
 * How deep a thread's own stack has been, and by which calls. trace/stack_format.h draws what is
 * kept of it in the trace.
 *
 * The hot path pays nothing: it compares the stack pointer with the bounds of the own stack anyway,
 * and the lower one is set to the deepest entry so far. A call that goes deeper is taken for one on
 * a foreign stack, comes to the slow path, and is noted there. A stack grows to its depth once;
 * what happens within it costs nothing.
 *
 *      own_low        lowest so far                        end of the stack
 *         |   slow          |            hot                      |
 *         +-----------------+-------------------------------------+
 *                       stack_low                    stack_low + stack_size
 *
 * A new depth rewrites only the part of the chain that is not of the same calls as before: a
 * recursion N deep costs N entries, not N * N.
 */
#ifndef UMBRA_HOOKS_STACK_H
#define UMBRA_HOOKS_STACK_H

#include <stdint.h>

struct thread;
struct live_call;

/* The thread's stack is known. */
void stack_begin(struct thread *thread);

/* In a slow path: the stack goes down to here. innermost: the call that has it. */
void stack_note(struct thread *thread, uint64_t stack_pointer, const struct live_call *innermost);

#endif
