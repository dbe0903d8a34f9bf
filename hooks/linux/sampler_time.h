/*
 * How much of a thread's processor time a sample stands for, so that all of it counts once: sampler.h draws
 * it. What the kernel took between perf's signals is *owed*, to whoever the timer finds coming out of it.
 */
#ifndef UMBRA_HOOKS_LINUX_SAMPLER_TIME_H
#define UMBRA_HOOKS_LINUX_SAMPLER_TIME_H

#include "hooks/thread.h"

/* Processor time of the calling thread in ns, as all here; 0: it is not to be read. */
uint64_t sampler_time_of_thread(void);

/* All that the calling thread uses counts from now on: what went by before does not. */
void sampler_time_begin(struct thread *thread);

/* A signal of perf's: a period in user mode is over. What went by before that was in the kernel, but for
   scatter. Returns ns. */
uint64_t sampler_time_of_perf(struct thread *thread, uint64_t period_ns);

/* A signal of the timer's. With perf, it stands for none but what was spent in the kernel. is_call: the
   thread comes out of a system call. Returns ns. */
uint64_t sampler_time_of_timer(struct thread *thread, uint64_t period_ns, uint64_t periods,
                               bool is_call);

/* Whether much more time than a period is unaccounted for, because the thread's samples were held: then
   it belongs to who lets them go on. */
bool sampler_time_is_late(struct thread *thread, uint64_t period_ns);

/* What went by since the last look is accounted for: returns it. */
uint64_t sampler_time_take_rest(struct thread *thread);

/* What is owed is nobody's any more: returns it. */
uint64_t sampler_time_take_owed(struct thread *thread);

#endif
