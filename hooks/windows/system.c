#include "hooks/system.h"

#include "hooks/windows/text.h"
#include "support/windows/ntdll.h"
#include "thunkstash/windows/call_system.h"
#include "thunkstash/windows/teb.h"

#define THREAD_NAME_INFORMATION 38 /* Windows 10 1607; before, there are no names */
#define NAME_SIZE               256

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

struct description {
    UNICODE_STRING text;
    wchar_t units[NAME_SIZE];
};

static bool describe(uint32_t tid, struct description *description)
{
    HANDLE thread = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, tid);
    NTSTATUS status;

    if (!thread)
        return false;
    status = NtQueryInformationThread(thread, (THREADINFOCLASS)THREAD_NAME_INFORMATION, description,
                                      sizeof(*description), NULL);
    CloseHandle(thread);
    return NT_SUCCESS(status);
}

void system_thread_name(uint32_t tid, char *name, size_t size)
{
    struct description description;

    if (CALL_SYSTEM(describe(tid, &description)) && description.text.Length)
        text_from_wide(name, size, description.text.Buffer,
                       description.text.Length / sizeof(*description.units));
}

/* The block of a thread that has become a fiber has the bounds of the fiber that runs: whether that
   is the thread's own stack cannot be told. */
struct stack_bounds system_own_stack(uint64_t pointer)
{
    uint64_t high = teb_read(TEB_STACK_BASE), low = teb_read(TEB_DEALLOCATION_STACK);

    if (CALL_SYSTEM(IsThreadAFiber()) || pointer < low || pointer >= high)
        return (struct stack_bounds){0, 0};
    return (struct stack_bounds){low, high - low};
}

uint64_t system_address_limit(void)
{
    return UINTPTR_MAX;
}

/* There are none. */
bool system_on_signal_stack(uint64_t pointer)
{
    (void)pointer;
    return false;
}
