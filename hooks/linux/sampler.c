#include "hooks/sampler.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
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

/* Signals that an instruction raises. All others wait until the handler has returned, so that none
   of the program's handlers leaves it by longjmp, with the signal blocked. */
#define RAISED                                                                                     \
    (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) |  \
     1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1))

#define LEAST_STACK     6144 /* of an alternate one: what the kernel puts there has up to 3.4 KiB */
#define MOST_LONE_TICKS 8    /* of the timer in user mode, without a signal of perf's */
#define FAULT_NS        1000 /* that one takes, or so */
#define MANY_FAULTS     64   /* since the signal before: the timer's is of one */
#define MOST_OWED       8    /* times what a signal of the timer's stands for */
#define LONGEST_WAIT_MS 200  /* for the service, which looks every 16 ms at least */

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
static long owner; /* the process that the timers are of */

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

static bool is_ours(const siginfo_t *info)
{
    return info->si_code == SI_TIMER ? (uint64_t)info->si_value.sival_ptr == OURS
                                     : info->si_code == POLL_IN;
}

/* The calling thread's; 0: it is not to be read. */
static uint64_t processor_time(void)
{
    struct timespec time;

    if (syscall_failed(SYSCALL2(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time)))
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The time since the last look. If the clock cannot be read: what the signal itself stands for. */
static uint64_t unseen(struct thread *thread, uint64_t otherwise)
{
    uint64_t now = processor_time();

    if (!now || !thread->samples.seen)
        return otherwise;
    return now > thread->samples.seen ? now - thread->samples.seen : 0;
}

static void see(struct thread *thread, uint64_t ns)
{
    if (thread->samples.seen)
        thread->samples.seen += ns;
}

static uint64_t take_owed(struct thread *thread)
{
    uint64_t owed = thread->samples.owed;

    thread->samples.owed = thread->samples.of_faults = 0;
    return owed;
}

/* Of what is owed, what page faults took, the rest, or both. */
static uint64_t take_part(struct thread *thread, bool is_fault, bool is_call)
{
    uint64_t owed = thread->samples.owed, taken = 0;
    uint64_t of_faults = thread->samples.of_faults < owed ? thread->samples.of_faults : owed;

    if (is_fault) {
        taken += of_faults;
        thread->samples.of_faults = 0;
    }
    if (is_call)
        taken += owed - of_faults;
    thread->samples.owed -= taken;
    return taken;
}

/* Page faults of the thread since the signal before. */
static uint64_t new_faults(struct thread *thread)
{
    struct rusage usage;
    uint64_t before = thread->samples.faults;

    if (syscall_failed(SYSCALL2(getrusage, RUSAGE_THREAD, &usage)))
        return 0;
    thread->samples.faults = (uint64_t)usage.ru_minflt;
    thread->samples.of_faults += (thread->samples.faults - before) * FAULT_NS;
    return thread->samples.faults - before;
}

/* A period in user mode is over. What went by before that was in the kernel, but for scatter. */
static uint64_t of_perf(struct thread *thread)
{
    uint64_t ns = unseen(thread, period_ns);
    uint64_t own = ns < period_ns + period_ns / 2 ? ns : period_ns;

    new_faults(thread);
    thread->entry->is_sampled |= TRACE_SAMPLED_BY_PERF;
    thread->samples.has_perf = 1;
    thread->samples.lone_ticks = 0;
    thread->samples.owed += ns - own;
    see(thread, ns);
    return own;
}

/* The instruction that calls the kernel leaves its return address in rcx. */
static bool comes_from_system_call(const mcontext_t *registers)
{
    return registers->gregs[REG_RCX] == registers->gregs[REG_RIP];
}

/* ns: what the signal stands for. With perf, that is none but for what was spent in the kernel. */
static uint64_t of_timer(struct thread *thread, uint64_t ns, bool is_call)
{
    uint64_t passed = unseen(thread, thread->samples.has_perf ? 0 : ns);
    bool is_fault = new_faults(thread) >= MANY_FAULTS;

    if (thread->samples.has_perf && !is_call && !is_fault &&
        ++thread->samples.lone_ticks > MOST_LONE_TICKS)
        thread->samples.has_perf = 0; /* it sends no more */
    if (!thread->samples.has_perf) {
        see(thread, passed);
        return passed + take_owed(thread);
    }
    passed -= passed % period_ns;
    see(thread, passed);
    thread->samples.owed += passed;
    return thread->samples.owed > MOST_OWED * ns ? take_owed(thread)
                                                 : take_part(thread, is_fault, is_call);
}

static void on_signal(int number, siginfo_t *info, void *with)
{
    const ucontext_t *context = with;
    struct thread *thread = thread_current();
    uint64_t instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP], ns;

    (void)number;
    if (!is_ours(info) || !thread || thread->begun != session.number ||
        session.state != SESSION_RUNNING || guard_forked())
        return;
    ns = info->si_code == SI_TIMER ? of_timer(thread, (1 + (uint64_t)info->si_overrun) * period_ns,
                                              comes_from_system_call(&context->uc_mcontext))
                                   : of_perf(thread);
    if (session_is_paused())
        take_owed(thread);
    else if (ns)
        count(thread, ns * (session.header->ticks_per_second / 1000) / 1000000, instruction,
              (uint64_t)context->uc_mcontext.gregs[REG_RSP]);
}

/* Nobody else handles the signal. */
static bool take_signal(void)
{
    struct kernel_action own = {.handler = on_signal,
                                .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_RESTORER,
                                .restorer = umbra_signal_return,
                                .mask = ~RAISED};
    struct kernel_action old = {0};

    if (syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, 0, &old, SET_SIZE)))
        return false;
    if (old.handler == on_signal)
        return true;
    if (old.handler != (void *)SIG_DFL) { /* who has not asked the C library for it */
        sampler_stop();
        return false;
    }
    return !syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, &own, 0, SET_SIZE));
}

/* A thread that has it blocked would get one signal at last, at another time. */
static bool is_blocked(void)
{
    uint64_t blocked = 0;

    return syscall_failed(SYSCALL4(rt_sigprocmask, SIG_BLOCK, 0, &blocked, SET_SIZE)) ||
           blocked >> (SIGNAL - 1) & 1;
}

/* The thread's alternate stack would be run over. */
static bool has_small_stack(void)
{
    stack_t stack = {0};

    return syscall_failed(SYSCALL2(sigaltstack, 0, &stack)) ||
           (!(stack.ss_flags & SS_DISABLE) && stack.ss_size < LEAST_STACK);
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
    thread->sampler_waits = 0;
}

static bool signals_are(uint32_t state)
{
    return __atomic_load_n(&session.header->signals, __ATOMIC_ACQUIRE) == state;
}

/* Returns whether they were sent so far. */
static bool refuse_signals(void)
{
    return session.state == SESSION_RUNNING && !guard_forked() &&
           __atomic_exchange_n(&session.header->signals, TRACE_SIGNALS_UNWANTED,
                               __ATOMIC_ACQ_REL) == TRACE_SIGNALS_SENT;
}

/* Nor is any such signal left: the kernel drops those of a number that is not handled. */
void sampler_stop(void)
{
    struct kernel_action none = {.handler = (void *)SIG_DFL}, old = {0};

    if (!session.is_sampled || is_stopped)
        return;
    if (owner == SYSCALL0(getpid)) { /* not its child, which shares its memory (vfork) */
        is_stopped = true;
        refuse_signals();
        threads_each(sampler_end);
    }
    if (!syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, 0, &old, SET_SIZE)) &&
        old.handler == on_signal)
        SYSCALL4(rt_sigaction, SIGNAL, &none, 0, SET_SIZE);
}

void sampler_give_up(void)
{
    const struct timespec wait = {0, 1000000};

    if (session.is_sampled && !is_stopped && owner == SYSCALL0(getpid) && refuse_signals())
        for (int i = 0; i < LONGEST_WAIT_MS && signals_are(TRACE_SIGNALS_UNWANTED); i++)
            SYSCALL2(nanosleep, &wait, 0);
    sampler_stop();
}

static uint64_t *willing_word(const struct thread *thread)
{
    return &session.header->willing[thread->tid / 64 % TRACE_WILLING_WORDS];
}

/* For this thread; for the process, unless it was said before. */
static void want_signals(const struct thread *thread)
{
    uint32_t none = TRACE_SIGNALS_NONE;

    __atomic_fetch_or(willing_word(thread), 1ull << thread->tid % 64, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&session.header->signals, &none, TRACE_SIGNALS_WANTED, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
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
    if (is_blocked()) {
        thread->sampler_waits += !thread->sampler_waits;
        return;
    }
    thread->sampler_waits = 0;
    period_ns = 1000000000u / session.header->sampling_hz;
    owner = SYSCALL0(getpid);
    if (has_small_stack() || !take_signal())
        return;
    thread->samples.seen = processor_time();
    thread->samples.has_perf = thread->samples.lone_ticks = 0;
    new_faults(thread);
    take_owed(thread);
    if (start_timer(thread))
        thread->entry->is_sampled = TRACE_SAMPLED_BY_TIMER;
    want_signals(thread);
}
