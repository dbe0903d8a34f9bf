#include "hooks/system.h"

#include "hooks/windows/teb.h"
#include "support/windows/ntdll.h"
#include "thunkstash/windows/call_system.h"

uint32_t system_process_id(void)
{
    return (uint32_t)teb_read(TEB_PROCESS_ID);
}

uint32_t system_thread_id(void)
{
    return (uint32_t)teb_read(TEB_THREAD_ID);
}

static bool has_ended(uint32_t tid)
{
    HANDLE thread = OpenThread(SYNCHRONIZE | THREAD_QUERY_LIMITED_INFORMATION, FALSE, tid);
    bool ended;

    if (!thread)
        return GetLastError() != ERROR_ACCESS_DENIED;
    ended = GetProcessIdOfThread(thread) != system_process_id() ||
            WaitForSingleObject(thread, 0) == WAIT_OBJECT_0;
    CloseHandle(thread);
    return ended;
}

bool system_thread_is_gone(uint32_t tid)
{
    return CALL_SYSTEM(has_ended(tid));
}

/* ExitProcess terminates all other threads before it tells the process's images. */
bool system_exit_ends_threads(void)
{
    return true;
}

void system_stop_exits(struct stash *stash)
{
    (void)stash;
}

void system_yield(void)
{
    CALL_SYSTEM(NtYieldExecution());
}

/* The block of a thread that has become a fiber has the bounds of the fiber that runs: whether that
   is the thread's own stack cannot be told. */
uint64_t system_address_limit(void)
{
    return UINT64_MAX;
}

struct stack_bounds system_own_stack(uint64_t pointer)
{
    uint64_t high = teb_read(TEB_STACK_BASE), low = teb_read(TEB_DEALLOCATION_STACK);

    if (CALL_SYSTEM(IsThreadAFiber()) || pointer < low || pointer >= high)
        return (struct stack_bounds){0, 0};
    return (struct stack_bounds){low, high - low};
}

/* There are none. */
bool system_on_signal_stack(uint64_t pointer)
{
    (void)pointer;
    return false;
}
