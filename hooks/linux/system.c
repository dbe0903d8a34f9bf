#include "hooks/system.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "hooks/linux/maps.h"
#include "hooks/memory.h"
#include "processor.h"
#include "thunkstash/linux/syscalls.h"
#include "thunkstash/stash.h"

#define NO_SUCH_THREAD (-3) /* ESRCH */
#define COMM_SIZE      16   /* as the kernel keeps it, with the terminating zero */
#define STATUS_PART    1024 /* of /proc/self/status: TracerPid is among its first ten lines */

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

static void name_of_other(uint32_t tid, char comm[COMM_SIZE])
{
    char path[40] = "/proc/self/task/";
    long file;

    text_append_number(path, sizeof(path), tid);
    text_append(path, sizeof(path), "/comm");
    file = SYSCALL4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(file))
        return;
    long got = SYSCALL3(read, file, comm, COMM_SIZE - 1);
    SYSCALL1(close, file);
    if (got > 0 && comm[got - 1] == '\n')
        comm[got - 1] = 0;
}

void system_thread_name(uint32_t tid, char *name, size_t size)
{
    char comm[COMM_SIZE] = {0};

    if (tid == (uint32_t)SYSCALL0(gettid))
        SYSCALL2(prctl, PR_GET_NAME, comm);
    else
        name_of_other(tid, comm);
    if (comm[0])
        text_copy(name, size, comm);
}

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

    if (!syscall_failed(SYSCALL_LIMIT(RLIMIT_STACK, &limit)) && limit.rlim_cur < most)
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
    uint64_t descriptor = thread_pointer(), low = search->found.start;

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

    return syscall_failed(SYSCALL_LIMIT(RLIMIT_AS, &limit)) || limit.rlim_cur > UINTPTR_MAX
               ? UINTPTR_MAX
               : limit.rlim_cur;
}

bool system_on_signal_stack(uint64_t pointer)
{
    stack_t stack;

    return !syscall_failed(SYSCALL2(sigaltstack, 0, &stack)) && !(stack.ss_flags & SS_DISABLE) &&
           pointer - (uintptr_t)stack.ss_sp < stack.ss_size;
}

/* Where the file cannot be read, nobody is known to trace. */
bool system_is_traced(void)
{
    static const char line[] = "\nTracerPid:\t";
    long length = sizeof(line) - 1;
    char text[STATUS_PART];
    long file = SYSCALL4(openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    long size;

    if (syscall_failed(file))
        return false;
    size = SYSCALL3(read, file, text, sizeof(text));
    SYSCALL1(close, file);
    for (long i = 0; i + length < size; i++)
        if (!memcmp(text + i, line, length))
            return text[i + length] != '0';
    return false;
}
