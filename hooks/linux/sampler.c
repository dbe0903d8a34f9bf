#include "hooks/sampler.h"

#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include "hooks/executed.h"
#include "hooks/guard.h"
#include "hooks/hooks_code.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "thunkstash/linux/syscalls.h"

#define SIGNAL      SIGURG
#define OURS        0x756d627261ull /* what our timers' signals say */
#define SET_SIZE    8               /* bytes of the kernel's sets of signals */
#define SA_RESTORER 0x04000000

/* As the kernel has them. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
};

extern void umbra_signal_return(void) __attribute__((visibility("hidden")));

static uint64_t period_ns;
static bool is_stopped;

/* Of what the thread has done since the last sample. */
static void count(struct thread *thread, uint64_t ticks, uint64_t instruction, uint64_t pointer)
{
    struct trace_node *node;

    if (thread->busy ||
        hooks_code_has(instruction)) { /* copies count by themselves: that is not told apart */
        thread->entry->in_hooks += ticks;
        return;
    }
    node = slow_path_on_own_stack(thread, (const uint64_t *)pointer) && thread->own.ordered
               ? executed_context(thread, instruction, pointer)
               : slow_path_context_elsewhere(thread, pointer);
    node->ticks += ticks;
    node->timed++;
}

static void on_signal(int number, siginfo_t *info, void *with)
{
    const ucontext_t *context = with;
    struct thread *thread = thread_current();
    uint64_t periods = 1 + (uint64_t)info->si_overrun;

    (void)number;
    if (info->si_code != SI_TIMER || (uint64_t)info->si_value.sival_ptr != OURS || !thread ||
        thread->begun != session.number || session.state != SESSION_RUNNING ||
        session_is_paused() || guard_forked())
        return;
    count(thread, periods * period_ns * (session.header->ticks_per_second / 1000) / 1000000,
          (uint64_t)context->uc_mcontext.gregs[REG_RIP],
          (uint64_t)context->uc_mcontext.gregs[REG_RSP]);
}

/* Nobody else handles the signal. */
static bool take_signal(void)
{
    struct kernel_action own = {.handler = on_signal,
                                .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_RESTORER,
                                .restorer = umbra_signal_return};
    struct kernel_action old = {0};

    if (syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, 0, &old, SET_SIZE)))
        return false;
    if (old.handler == on_signal)
        return true;
    return old.handler == (void *)SIG_DFL &&
           !syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, &own, 0, SET_SIZE));
}

/* A thread that has it blocked would get one signal at last, at another time. */
static bool is_blocked(void)
{
    uint64_t blocked = 0;

    return syscall_failed(SYSCALL4(rt_sigprocmask, SIG_BLOCK, 0, &blocked, SET_SIZE)) ||
           blocked >> (SIGNAL - 1) & 1;
}

static bool start_timer(struct thread *thread)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGNAL,
                             .sigev_value.sival_ptr = (void *)OURS};
    struct itimerspec each = {{0, (long)period_ns}, {0, (long)period_ns}};
    int timer;

    event._sigev_un._tid = (int)thread->tid;
    if (syscall_failed(SYSCALL3(timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer)))
        return false;
    thread->sampler = timer + 1;
    return !syscall_failed(SYSCALL4(timer_settime, timer, 0, &each, 0));
}

void sampler_end(struct thread *thread)
{
    if (thread->sampler)
        SYSCALL1(timer_delete, thread->sampler - 1);
    thread->sampler = 0;
}

/* Nor is any such signal left: the kernel drops those of a number that is not handled. */
void sampler_stop(void)
{
    struct kernel_action none = {.handler = (void *)SIG_DFL}, old = {0};

    if (!session.is_sampled || is_stopped)
        return;
    is_stopped = true;
    threads_each(sampler_end);
    if (!syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, 0, &old, SET_SIZE)) &&
        old.handler == on_signal)
        SYSCALL4(rt_sigaction, SIGNAL, &none, 0, SET_SIZE);
}

#pragma weak dlsym

/* The C library's functions; or null. */
void *umbra_next_sigaction(void) __attribute__((visibility("hidden")));
void *umbra_next_signal(void) __attribute__((visibility("hidden")));

void *umbra_next_sigaction(void)
{
    return dlsym ? dlsym(RTLD_NEXT, "sigaction") : 0;
}

void *umbra_next_signal(void)
{
    return dlsym ? dlsym(RTLD_NEXT, "signal") : 0;
}

void sampler_begin(struct thread *thread)
{
    if (!session.is_sampled || is_stopped || !session.header->sampling_hz)
        return;
    period_ns = 1000000000u / session.header->sampling_hz;
    if (!is_blocked() && take_signal() && start_timer(thread))
        thread->entry->is_sampled = 1;
}
