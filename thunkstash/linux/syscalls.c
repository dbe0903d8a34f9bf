#include "thunkstash/linux/syscalls.h"

static uint64_t syscalls_forbidden[SYSCALLS_KNOWN / 64];

bool syscall_is_forbidden(long number)
{
    return number < SYSCALLS_KNOWN &&
           __atomic_load_n(&syscalls_forbidden[number / 64], __ATOMIC_RELAXED) >> number % 64 & 1;
}

void syscall_forbid(long number)
{
    __atomic_fetch_or(&syscalls_forbidden[number / 64], 1ull << number % 64, __ATOMIC_RELAXED);
}
