/* A system call without any function, which might be hooked. */
#ifndef UMBRA_TEST_BARE_CALL_H
#define UMBRA_TEST_BARE_CALL_H

static inline __attribute__((always_inline)) long call_system(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
