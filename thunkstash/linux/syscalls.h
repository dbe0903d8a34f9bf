/*
 * System calls without the C library: the agent runs between two instructions of its host, where
 * the library may hold a lock and errno is the host's. Results are as the kernel returns them:
 * -1 … -4095 are error numbers.
 *
 * What the program has forbidden itself (seccomp) would end it. Such a call is not made. It returns
 * what the kernel does for a call that is not permitted.
 */
#ifndef UMBRA_THUNKSTASH_LINUX_SYSCALLS_H
#define UMBRA_THUNKSTASH_LINUX_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/system_calls.h"
#include "system_call.h"

#define SYSCALLS_KNOWN 512
#define NOT_PERMITTED  (-1) /* EPERM */

/* From now on that call fails. Which calls: hooks/linux/confinement.h. */
void syscall_forbid(long number) __attribute__((visibility("hidden")));
bool syscall_is_forbidden(long number) __attribute__((visibility("hidden")));

static inline long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    return syscall_is_forbidden(number) ? NOT_PERMITTED : syscall_make(number, a, b, c, d, e, f);
}

#define SYSCALL0(n)             syscall6(SYS_##n, 0, 0, 0, 0, 0, 0)
#define SYSCALL1(n, a)          syscall6(SYS_##n, (long)(a), 0, 0, 0, 0, 0)
#define SYSCALL2(n, a, b)       syscall6(SYS_##n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYSCALL3(n, a, b, c)    syscall6(SYS_##n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYSCALL4(n, a, b, c, d) syscall6(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYSCALL5(n, a, b, c, d, e)                                                                 \
    syscall6(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYSCALL6(n, a, b, c, d, e, f)                                                              \
    syscall6(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline bool syscall_failed(long result)
{
    return result < 0 && result >= -4095;
}

#endif
