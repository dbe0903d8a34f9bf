/* What the agent goes by on this processor. */
#ifndef UMBRA_HOOKS_LINUX_PROCESSOR_H
#define UMBRA_HOOKS_LINUX_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#define TAKES_SAMPLES false /* sampler.h */

/* Where the C library keeps the calling thread's descriptor. */
static inline uint64_t thread_pointer(void)
{
    uint32_t pointer;

    __asm__("mov %%gs:0, %0" : "=r"(pointer));
    return pointer;
}

#endif
