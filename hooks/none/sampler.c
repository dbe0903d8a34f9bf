/* Threads of Windows programs take no samples. */
#include "hooks/sampler.h"

void sampler_begin(struct thread *thread)
{
    (void)thread;
}

void sampler_end(struct thread *thread)
{
    (void)thread;
}

void sampler_settle(struct thread *thread)
{
    (void)thread;
}

void sampler_stop(void)
{
}
