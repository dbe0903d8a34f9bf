#include "hooks/guard.h"

#include <signal.h>

#include "thunkstash/linux/syscalls.h"

static uint32_t holder; /* pid of the process that holds the lock, 0 for none */

struct guard guard_take(void)
{
    struct guard guard;
    uint64_t all = ~0ull;
    uint32_t pid;

    SYSCALL4(rt_sigprocmask, SIG_SETMASK, &all, &guard.signals, 8);
    pid = (uint32_t)SYSCALL0(getpid);
    for (;;) {
        uint32_t found = __atomic_load_n(&holder, __ATOMIC_RELAXED);

        if (found != pid && __atomic_compare_exchange_n(&holder, &found, pid, 0, __ATOMIC_ACQUIRE,
                                                        __ATOMIC_RELAXED))
            return guard;
        SYSCALL0(sched_yield);
    }
}

void guard_release(struct guard guard)
{
    __atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
    SYSCALL4(rt_sigprocmask, SIG_SETMASK, &guard.signals, 0, 8);
}
