#include "hooks/guard.h"

#include <signal.h>

#include "thunkstash/linux/syscalls.h"
#include "thunkstash/pages.h"

#define PAGE 4096

static struct wiped {
    uint32_t lock;
    uint32_t own; /* not zero: this process began it */
} * wiped;

bool guard_prepare(void)
{
    wiped = pages_take_wiped_on_fork(PAGE);
    if (wiped)
        wiped->own = 1;
    return wiped != NULL;
}

struct guard guard_hold_signals(void)
{
    struct guard guard = {0};
    uint64_t all = ~0ull;

    SYSCALL4(rt_sigprocmask, SIG_SETMASK, &all, &guard.signals, 8);
    return guard;
}

void guard_let_signals(struct guard guard)
{
    SYSCALL4(rt_sigprocmask, SIG_SETMASK, &guard.signals, 0, 8);
}

void guard_take_holding(void)
{
    while (__atomic_exchange_n(&wiped->lock, 1, __ATOMIC_ACQUIRE))
        SYSCALL0(sched_yield);
}

struct guard guard_take(void)
{
    struct guard guard = guard_hold_signals();

    guard_take_holding();
    return guard;
}

void guard_release(struct guard guard)
{
    __atomic_store_n(&wiped->lock, 0, __ATOMIC_RELEASE);
    guard_let_signals(guard);
}

bool guard_forked(void)
{
    return !wiped->own;
}

void guard_adopt(void)
{
    wiped->own = 1;
}
