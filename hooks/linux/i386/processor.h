/* What the agent goes by on this processor. */
#ifndef UMBRA_HOOKS_LINUX_PROCESSOR_H
#define UMBRA_HOOKS_LINUX_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Where the C library keeps the calling thread's descriptor. */
static inline uint64_t thread_pointer(void)
{
    uint32_t pointer;

    __asm__("mov %%gs:0, %0" : "=r"(pointer));
    return pointer;
}

/* Of what a signal has interrupted. */
static inline uint64_t processor_instruction(const mcontext_t *registers)
{
    return (uint32_t)registers->gregs[REG_EIP];
}

static inline uint64_t processor_stack_pointer(const mcontext_t *registers)
{
    return (uint32_t)registers->gregs[REG_ESP];
}

/* Who calls the kernel goes on behind `int 0x80`, also where the vdso has called by sysenter. */
static inline bool processor_is_after_system_call(const mcontext_t *registers)
{
    const uint8_t *next = (const uint8_t *)(uintptr_t)(uint32_t)registers->gregs[REG_EIP];

    return (uintptr_t)next % 4096 >= 2 && next[-2] == 0xcd && next[-1] == 0x80;
}

#endif
