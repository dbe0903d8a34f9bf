/* Where the C library keeps the calling thread's descriptor. */
#ifndef UMBRA_HOOKS_LINUX_THREAD_POINTER_H
#define UMBRA_HOOKS_LINUX_THREAD_POINTER_H

#include <stdint.h>

static inline uint64_t thread_pointer(void)
{
    uint64_t pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

#endif
