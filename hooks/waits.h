/*
 * Where threads wait (struct trace_wait): wall clock that is not processor time, around system calls of
 * copies that took some 50 us or more (rewriter/copy/wait_code.h). What a thread waited is
 *
 *      the least of    what that system call took
 *                      how much further the wall clock went than the thread's processor time, since the
 *                      thread was looked at last: at a sample, or at such a call
 *
 * so a call that works for long in the kernel has not waited, and what others took of the processor
 * before it is not its wait.
 *
 * What umbra record answers (trace/answered_calls.h) is nobody's wait, and counted apart for each thread.
 */
#ifndef UMBRA_HOOKS_WAITS_H
#define UMBRA_HOOKS_WAITS_H

#include "hooks/thread.h"

/* Where the thread's waits in the context of that index are counted. Null: there is no room. */
struct trace_wait *waits_of(struct thread *thread, uint32_t node);

/* The calling thread, all: what went by until now is nobody's wait. Not to be called between a system call
   of a copy and what notes its wait. */
void waits_look(struct thread *thread);

/* A thread that is gone: gives back what its waits are found by. */
void waits_release(struct thread *thread);

#endif
