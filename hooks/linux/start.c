/* When the agent begins and ends in its host, and what Linux does for that. */
#include "hooks/linux/start.h"

#include "hooks/agent_life.h"
#include "hooks/generated.h"
#include "hooks/guard.h"
#include "hooks/linux/locked_memory.h"
#include "hooks/linux/maps.h"
#include "hooks/linux/trust.h"
#include "hooks/memory.h"
#include "hooks/resolver.h"
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

/* The thunks, out of the agent's own file. */
static void *map_thunks(void)
{
    static struct own_file own;
    struct guard guard = guard_take();

    own.address = (uint64_t)umbra_thunk_code;
    maps_each(find_own_file, &own);
    guard_release(guard);
    return pages_map_file(own.path, own.offset, BLOCK_CODE_SIZE);
}

static void find_v8(void)
{
    struct guard guard = guard_take();

    if (resolver_set())
        generated_is_resolved();
    guard_release(guard);
}

static void refuse(const char *why)
{
    SYSCALL3(write, 2, why, text_length(why));
    SYSCALL1(exit_group, 1);
}

/* For good: the first call of each image has it call no more. */
static void stay_out(void)
{
    if (guard_prepare())
        __atomic_store_n(&umbra_ready, 1, __ATOMIC_RELEASE);
}

bool agent_begin_in(char *const *environment)
{
    const char *required = environment_value(environment, "UMBRA_REQUIRED");

    locked_memory_begin();
    if (!guard_prepare())
        return false;
    if (agent_life_begin(environment, umbra_stash, map_thunks()))
        find_v8();
    else if (required && text_equal(required, "1"))
        refuse(AGENT_LIFE_REFUSAL);
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
    if (trust_start())
        agent_begin_in(gnu_get_libc_version ? environment : &environ ? environ : 0);
    else
        stay_out();
}

__attribute__((destructor)) void agent_end(void)
{
    agent_life_end();
}
