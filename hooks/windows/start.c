/*
 * When the agent begins and ends in its host, and what Windows does for that.
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
#include "hooks/agent_life.h"
#include "hooks/generated.h"
#include "hooks/memory.h"
#include "hooks/resolver.h"
#include "hooks/windows/environment.h"
#include "hooks/windows/thread_slot.h"
#include "support/windows/ntdll.h"
#include "thunkstash/windows/call_system.h"
#include "thunkstash/windows/range.h"

/* entry.S: may images be registered? Zero until the agent itself is set up. */
int umbra_ready;

static char *image; /* of the agent itself */
static enum { WAITING, BEGINNING, BEGUN } state;

static void refuse(const char *why)
{
    DWORD written;

    WriteFile(GetStdHandle(STD_ERROR_HANDLE), why, (DWORD)text_length(why), &written, NULL);
    TerminateProcess(THIS_PROCESS, 1);
}

static bool is_required(void)
{
    char value[4];

    return environment_get("UMBRA_REQUIRED", value, sizeof(value)) && text_equal(value, "1");
}

/* True, for CALL_SYSTEM. */
static bool begin(void)
{
    bool records = agent_life_begin(NULL, range_reserve(), range_open_code(image));

    if (!records && is_required())
        refuse(AGENT_LIFE_REFUSAL);
    if (records && resolver_set())
        generated_is_resolved();
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

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        attach(self);
    else if (reason == DLL_THREAD_DETACH)
        thread_slot_detach();
    else if (reason == DLL_PROCESS_DETACH)
        agent_life_end();
    return TRUE;
}
