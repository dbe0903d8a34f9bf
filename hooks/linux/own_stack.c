#include <signal.h>
#include <sys/resource.h>

#include "hooks/linux/maps.h"
#include "hooks/memory.h"
#include "hooks/system.h"
#include "thunkstash/linux/syscalls.h"

struct stack_search {
    uint64_t pointer;
    uint64_t below_end; /* of the mapping before */
    bool below_is_guard;
    struct mapping found;
    bool is_main;
};

static bool find_stack(const struct mapping *mapping, void *with)
{
    struct stack_search *search = with;

    if (search->pointer < mapping->end) {
        search->found = *mapping;
        search->is_main = text_equal(mapping->path, "[stack]");
        return false;
    }
    search->below_end = mapping->end;
    search->below_is_guard = !memcmp(mapping->protection, "---", 3);
    return true;
}

/* The main thread's stack grows down to the limit, unless something is in its way. */
static struct stack_bounds main_stack(const struct stack_search *search)
{
    struct rlimit limit;
    uint64_t most = 8ull << 30, low;

    if (!syscall_failed(SYSCALL2(getrlimit, RLIMIT_STACK, &limit)) && limit.rlim_cur < most)
        most = limit.rlim_cur;
    low = search->found.end > most ? search->found.end - most : 0;
    if (low < search->below_end)
        low = search->below_end;
    if (low > search->found.start)
        low = search->found.start;
    return (struct stack_bounds){low, search->found.end - low};
}

/*
 * Another thread's stack: the kernel shows mappings, and may show several as one. It ends at the
 * latest where the C library keeps the thread's descriptor, at the top of the stack, and begins
 * right above its guard page. A stack without these two marks could share its mapping with
 * coroutine stacks, and is not taken for the thread's own.
 */
static struct stack_bounds thread_stack(const struct stack_search *search)
{
    uint64_t descriptor, low = search->found.start;

    __asm__("mov %%fs:0, %0" : "=r"(descriptor));
    if (!search->below_is_guard || search->below_end != low || descriptor <= search->pointer ||
        descriptor > search->found.end)
        return (struct stack_bounds){0, 0};
    return (struct stack_bounds){low, descriptor - low};
}

struct stack_bounds system_own_stack(uint64_t pointer)
{
    struct stack_search search = {.pointer = pointer};

    if (!maps_each(find_stack, &search) || pointer < search.found.start ||
        pointer >= search.found.end)
        return (struct stack_bounds){0, 0};
    return search.is_main ? main_stack(&search) : thread_stack(&search);
}

uint64_t system_address_limit(void)
{
    struct rlimit limit;

    return syscall_failed(SYSCALL2(getrlimit, RLIMIT_AS, &limit)) ? UINT64_MAX : limit.rlim_cur;
}

bool system_on_signal_stack(uint64_t pointer)
{
    stack_t stack;

    return !syscall_failed(SYSCALL2(sigaltstack, 0, &stack)) && !(stack.ss_flags & SS_DISABLE) &&
           pointer - (uint64_t)stack.ss_sp < stack.ss_size;
}
