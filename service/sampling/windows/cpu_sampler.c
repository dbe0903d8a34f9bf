/* No process is sampled here. */
#include "service/sampling/cpu_sampler.h"

#include <errno.h>

struct cpu_sampler *cpu_sampler_open(struct event_loop *loop, uint32_t period_ns,
                                     const struct cpu_sampler_receiver *receiver,
                                     struct failure *failure)
{
    (void)loop, (void)period_ns, (void)receiver;
    fail_because(failure, "only on Linux");
    return NULL;
}

void cpu_sampler_close(struct cpu_sampler *sampler)
{
    (void)sampler;
}

struct cpu_sampler_target *cpu_sampler_attach(struct cpu_sampler *sampler, pid_t pid, void *owner)
{
    (void)sampler, (void)pid, (void)owner;
    errno = ENOSYS;
    return NULL;
}

void cpu_sampler_detach(struct cpu_sampler *sampler, struct cpu_sampler_target *target)
{
    (void)sampler, (void)target;
}

void cpu_sampler_gather(struct cpu_sampler *sampler)
{
    (void)sampler;
}
