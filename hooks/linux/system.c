#include "hooks/system.h"

#include "thunkstash/linux/syscalls.h"
#include "thunkstash/stash.h"

#define NO_SUCH_THREAD (-3) /* ESRCH */

uint32_t system_process_id(void)
{
    return (uint32_t)SYSCALL0(getpid);
}

uint32_t system_thread_id(void)
{
    long tid = SYSCALL0(gettid);

    return syscall_failed(tid) ? 0 : (uint32_t)tid;
}

bool system_thread_is_gone(uint32_t tid)
{
    return SYSCALL3(tgkill, SYSCALL0(getpid), tid, 0) == NO_SUCH_THREAD;
}

bool system_exit_ends_threads(void)
{
    return false;
}

extern void umbra_exit_uncounted(void) __attribute__((visibility("hidden")));

void system_stop_exits(struct stash *stash)
{
    stash_change_exit_hook(stash, umbra_exit_uncounted);
}

void system_yield(void)
{
    SYSCALL0(sched_yield);
}
