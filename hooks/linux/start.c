/* When the agent begins and ends in its host, and what Linux does for that. */
#include "hooks/linux/start.h"

#include <link.h>
#include <pthread.h>

#include "hooks/agent_life.h"
#include "hooks/generated.h"
#include "hooks/guard.h"
#include "hooks/lasting.h"
#include "hooks/linux/locked_memory.h"
#include "hooks/linux/thunk_code.h"
#include "hooks/linux/trust.h"
#include "hooks/memory.h"
#include "hooks/resolver.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/syscalls.h"
#include "thunkstash/stash.h"

/* entry.S: may images be registered? Zero until the agent itself is relocated and set up. */
int umbra_ready __attribute__((visibility("hidden")));

extern char umbra_stash[STASH_RANGE_SIZE] __attribute__((visibility("hidden")));

static void look_at_images(void)
{
    struct guard guard = guard_take();

    lasting_images_find();
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
    if (agent_life_begin(environment, umbra_stash, thunk_code()))
        look_at_images();
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

static bool is_begun;

static void begin_once(char *const *environment)
{
    if (is_begun)
        return;
    is_begun = true;
    if (trust_start())
        agent_begin_in(environment);
    else
        stay_out();
}

__attribute__((constructor)) static void agent_begin(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    begin_once(gnu_get_libc_version ? environment : &environ ? environ : NULL);
}

/*
 * Functions in the executable's .preinit_array run before any library's constructor, the agent's
 * too: the first hook begins it. Other code may run before that constructor, while images are being
 * relocated (resolvers of IFUNC symbols); there the agent may not be relocated itself, nor the C
 * library that it calls. So it is to be sure that
 *
 *      - the agent is relocated: what a relocation makes is there;
 *      - all is: glibc's linker has told debuggers so;
 *      - the C library's constructors have not run: `environ` is not set yet;
 *      - what the agent calls is the C library's own, and not a sanitizer's that has not begun.
 *
 * glibc's linker keeps the stack as the kernel made it, where the environment is.
 */
#pragma weak _r_debug
#pragma weak __libc_stack_end
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
#pragma weak dl_iterate_phdr
extern void *__libc_stack_end;
static int *const volatile relocated_pointer = &umbra_ready;

/* The image that an address lies in, if it lies in one. */
static const struct link_map *image_at(const void *address)
{
    const struct link_map *found = NULL;

    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map->l_addr <= (uintptr_t)address && (!found || map->l_addr > found->l_addr))
            found = map;
    return found;
}

static bool is_preinit(void)
{
    const struct link_map *library;

    if (relocated_pointer != &umbra_ready || !gnu_get_libc_version || !&_r_debug ||
        _r_debug.r_state != RT_CONSISTENT || !&__libc_stack_end || !&environ || environ)
        return false;
    library = image_at((void *)gnu_get_libc_version);
    return library == image_at((void *)pthread_key_create) &&
           library == image_at((void *)pthread_setspecific) &&
           library == image_at((void *)dl_iterate_phdr);
}

bool agent_begin_early(void)
{
    const uintptr_t *stack;

    if (!umbra_ready && !is_begun && is_preinit()) {
        stack = __libc_stack_end;
        begin_once((char *const *)(stack + 1 + stack[0] + 1));
    }
    return umbra_ready;
}

__attribute__((destructor)) void agent_end(void)
{
    agent_life_end();
}
