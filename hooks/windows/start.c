/*
 * The agent's beginning and end in its host.
 *
 *      DllMain, process attach    a slot for each thread's state; nothing else
 *      first hook                 the session: connects to the service, maps the trace
 *      DllMain, thread detach     the thread's end
 *      DllMain, process detach    the end; all other threads are gone by then
 *
 * The session begins with the first hook and not in DllMain, since it needs sockets, which load
 * further images: not what a DllMain should do under the loader's lock. A program whose first hook
 * comes out of a DllMain or a callback of its thread-local storage has that lock all the same; at
 * the process's start no other thread is there to wait for.
 */
#include <stdbool.h>

#include "hooks/agent.h"
#include "hooks/calibrate.h"
#include "hooks/guard.h"
#include "hooks/memory.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/thread.h"
#include "hooks/windows/environment.h"
#include "hooks/windows/thread_slot.h"
#include "thunkstash/windows/call_system.h"
#include "thunkstash/windows/ntdll.h"
#include "thunkstash/windows/range.h"

/* entry.S: may images be registered? Zero until the agent itself is set up. */
int umbra_ready;

static char *image; /* of the agent itself */
static enum { WAITING, BEGINNING, BEGUN } state;

static void refuse(const char *why)
{
    DWORD written;

    WriteFile(GetStdHandle(STD_ERROR_HANDLE), why, (DWORD)text_length(why), &written, 0);
    TerminateProcess(THIS_PROCESS, 1);
}

static bool is_required(void)
{
    char value[4];

    return environment_get("UMBRA_REQUIRED", value, sizeof value) && text_equal(value, "1");
}

/* True, for CALL_SYSTEM. */
static bool begin(void)
{
    struct guard guard = guard_take();

    if (session_begin(0, 0)) {
        if (stash_prepare(range_reserve(), range_open_code(image)))
            modules_scan();
        else
            session_leave(SESSION_OFF);
    }
    guard_release(guard);
    if (session.state == SESSION_RUNNING)
        threads_prepare();
    else if (is_required())
        refuse("umbra: UMBRA_REQUIRED=1, but no call_trace_service answers for this "
               "UMBRA_INSTANCE_ID; start one, or unset UMBRA_REQUIRED\n");
    calibrate();
    return true;
}

bool agent_begun(void)
{
    int waiting = WAITING;

    if (__atomic_load_n((int *)&state, __ATOMIC_ACQUIRE) == BEGUN)
        return true;
    if (!__atomic_compare_exchange_n((int *)&state, &waiting, BEGINNING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    CALL_SYSTEM(begin());
    __atomic_store_n((int *)&state, BEGUN, __ATOMIC_RELEASE);
    return true;
}

static void attach(HINSTANCE self)
{
    HMODULE pinned;

    image = (char *)self;
    call_system_prepare();
    /* thunks may be on any thread's stack: the agent stays, whoever unloads the last image */
    if (thread_slot_prepare() &&
        GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                           (LPCWSTR)image, &pinned))
        __atomic_store_n(&umbra_ready, 1, __ATOMIC_RELEASE);
}

static void end(void)
{
    struct thread *self = thread_current();
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    struct guard guard;

    if (session.state != SESSION_RUNNING)
        return;
    guard = guard_take();
    modules_scan();
    session_leave(SESSION_CLOSED);
    threads_cut(self);
    if (self && self->begun == session.number) {
        thread_suspend(self, here, ticks_now());
        thread_end(self, here, TRACE_THREAD_ENDED);
        thread_publish(self);
    }
    session_end();
    guard_release(guard);
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        attach(self);
    else if (reason == DLL_THREAD_DETACH)
        thread_slot_detach();
    else if (reason == DLL_PROCESS_DETACH)
        end();
    return TRUE;
}
