/* What the agent goes by on this processor. */
#ifndef UMBRA_HOOKS_LINUX_PROCESSOR_H
#define UMBRA_HOOKS_LINUX_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Where the C library keeps the calling thread's descriptor. */
static inline uint64_t thread_pointer(void)
{
    uint64_t pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* Of what a signal has interrupted. */
static inline uint64_t processor_instruction(const mcontext_t *registers)
{
    return (uint64_t)registers->gregs[REG_RIP];
}

static inline uint64_t processor_stack_pointer(const mcontext_t *registers)
{
    return (uint64_t)registers->gregs[REG_RSP];
}

/* The instruction that calls the kernel leaves its return address in rcx. */
static inline bool processor_is_after_system_call(const mcontext_t *registers)
{
    return registers->gregs[REG_RCX] == registers->gregs[REG_RIP];
}

#endif
