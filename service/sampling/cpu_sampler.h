/*
 * Finds out where the threads of other processes are, each time they have used up a period of
 * processor time: the kernel interrupts them, and notes the instruction pointer and the lower end
 * of the stack. Time in the kernel is not sampled. The processes have no part in it.
 *
 * On Linux that is perf_event_open(2); elsewhere there are no samples.
 */
#ifndef UMBRA_SERVICE_CPU_SAMPLER_H
#define UMBRA_SERVICE_CPU_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/base/event_loop.h"
#include "support/failure.h"

struct cpu_sampler;
struct cpu_sampler_target; /* a process */

struct cpu_sample {
    uint32_t tid;
    uint64_t address;
    const uint64_t *stack; /* words from the stack pointer up */
    size_t stack_words;
};

/* What is called with what was found; owner is the target's. */
struct cpu_sampler_receiver {
    void (*taken)(void *owner, const struct cpu_sample *sample);
    void (*lost)(void *owner, uint64_t samples);
};

/* Gathers samples in the turns of the loop. Null, with a text of a few words. */
struct cpu_sampler *cpu_sampler_open(struct event_loop *loop, uint32_t period_ns,
                                     const struct cpu_sampler_receiver *receiver,
                                     struct failure *failure);

/* To be called when no target is left. Null: does nothing. */
void cpu_sampler_close(struct cpu_sampler *sampler);

/*
 * Samples the threads that a process has and those it will have, until it executes another program.
 * Returns null, errno set: EBUSY if that would be more processes, threads or descriptors than a
 * service gives to this.
 */
struct cpu_sampler_target *cpu_sampler_attach(struct cpu_sampler *sampler, pid_t pid, void *owner);

/* What is not gathered by then is lost. */
void cpu_sampler_detach(struct cpu_sampler *sampler, struct cpu_sampler_target *target);

/* Gathers all there is, of all targets. */
void cpu_sampler_gather(struct cpu_sampler *sampler);

#endif
