/* Threads take no samples: of Windows programs, and on i386. */
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

void sampler_give_up(void)
{
}
