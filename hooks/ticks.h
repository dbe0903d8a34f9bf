/* The processor's counter. */
#ifndef UMBRA_HOOKS_TICKS_H
#define UMBRA_HOOKS_TICKS_H

#include <stdint.h>

static inline uint64_t ticks_now(void)
{
    return __builtin_ia32_rdtsc();
}

#endif
