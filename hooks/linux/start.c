/* The agent's beginning and end in its host. */
#include "hooks/linux/start.h"

#include "hooks/invocation.h"
#include "hooks/generated.h"
#include "hooks/linux/maps.h"
#include "hooks/linux/resolver.h"
#include "hooks/memory.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/thread.h"
#include "hooks/guard.h"
#include "hooks/calibrate.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/syscalls.h"
#include "thunkstash/stash.h"

#define PATH_SIZE 4096

/* entry.S: may images be registered? Zero until the agent itself is relocated and set up. */
int umbra_ready __attribute__((visibility("hidden")));

extern const char umbra_thunk_code[] __attribute__((visibility("hidden")));
extern char umbra_stash[STASH_RANGE_SIZE] __attribute__((visibility("hidden")));

struct own_file {
    uint64_t address;
    uint64_t offset;
    char path[PATH_SIZE];
};

/* Where in which file the thunks come from. */
static bool find_own_file(const struct mapping *mapping, void *with)
{
    struct own_file *own = with;

    if (own->address >= mapping->end)
        return true;
    if (own->address >= mapping->start) {
        own->offset = mapping->offset + (own->address - mapping->start);
        text_copy(own->path, sizeof own->path, mapping->path);
    }
    return false;
}

static void refuse(const char *why)
{
    SYSCALL3(write, 2, why, text_length(why));
    SYSCALL1(exit_group, 1);
}

bool agent_begin_with(char *const *environment)
{
    static struct own_file own;
    const char *required = environment_value(environment, "UMBRA_REQUIRED");
    struct guard guard;

    if (!guard_prepare())
        return false;
    guard = guard_take();
    own.address = (uint64_t)umbra_thunk_code;
    maps_each(find_own_file, &own);
    if (stash_prepare(umbra_stash, pages_map_file(own.path, own.offset, BLOCK_CODE_SIZE)) &&
        session_begin(environment, 0)) {
        modules_scan();
        if (resolver_set())
            generated_is_resolved();
    }
    guard_release(guard);
    if (session.state == SESSION_RUNNING)
        threads_prepare();
    else if (required && text_equal(required, "1"))
        refuse("umbra: UMBRA_REQUIRED=1, but no call_trace_service answers for this "
               "UMBRA_INSTANCE_ID; start one, or unset UMBRA_REQUIRED\n");
    calibrate();
    __atomic_store_n(&umbra_ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* glibc hands the environment to constructors; others keep it in `environ` by then. */
#pragma weak gnu_get_libc_version
#pragma weak environ
extern const char *gnu_get_libc_version(void);
extern char **environ;

__attribute__((constructor)) static void agent_begin(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    agent_begin_with(gnu_get_libc_version ? environment : &environ ? environ : 0);
}

__attribute__((destructor)) void agent_end(void)
{
    struct thread *self = thread_current();
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    struct guard guard;

    if (session.state != SESSION_RUNNING || guard_forked())
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
    calibrate_again();
    session_end();
    guard_release(guard);
}
