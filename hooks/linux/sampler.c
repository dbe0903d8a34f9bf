#include "hooks/sampler.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include "hooks/code_at.h"
#include "hooks/executed.h"
#include "hooks/guard.h"
#include "hooks/hooks_code.h"
#include "hooks/linux/sampler_time.h"
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

#define STATUS_SIZE     512 /* what stands in front of TracerPid has less */
#define LONGEST_WAIT_MS 200 /* for the service, which looks every 16 ms at least */

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

    if (thread->busy || hooks_code_has(instruction) || code_is_counting(instruction)) {
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

/* The instruction that calls the kernel leaves its return address in rcx. */
static bool comes_from_system_call(const mcontext_t *registers)
{
    return registers->gregs[REG_RCX] == registers->gregs[REG_RIP];
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
    ns = info->si_code == SI_TIMER
             ? sampler_time_of_timer(thread, period_ns, 1 + (uint64_t)info->si_overrun,
                                     comes_from_system_call(&context->uc_mcontext))
             : sampler_time_of_perf(thread, period_ns);
    if (session_is_paused())
        sampler_time_take_owed(thread);
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
           (!(stack.ss_flags & SS_DISABLE) && stack.ss_size < SAMPLER_STACK);
}

static bool start_timer(struct thread *thread)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGNAL,
                             .sigev_value.sival_ptr = (void *)OURS};
    struct itimerspec each = {{0, (long)period_ns}, {0, (long)period_ns}};
    int timer = thread->sampler - 1;

    event._sigev_un._tid = (int)thread->tid;
    if (!thread->sampler &&
        syscall_failed(SYSCALL3(timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer)))
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

/* From here on, none is under way, either: it would have come by now. */
static void do_without_perf(void)
{
    const struct timespec wait = {0, 1000000};

    if (refuse_signals())
        for (int i = 0; i < LONGEST_WAIT_MS && signals_are(TRACE_SIGNALS_UNWANTED); i++)
            SYSCALL2(nanosleep, &wait, 0);
}

/* Not of a child that shares memory with the process (vfork). */
static bool is_sampling(void)
{
    return session.is_sampled && !is_stopped && owner && owner == SYSCALL0(getpid);
}

void sampler_give_up(void)
{
    if (is_sampling())
        do_without_perf();
    sampler_stop();
}

static uint64_t *willing_word(const struct thread *thread)
{
    return &session.header->willing[thread->tid / 64 % TRACE_WILLING_WORDS];
}

static uint64_t willing_bit(const struct thread *thread)
{
    return 1ull << thread->tid % 64;
}

/* For this thread; for the process, unless it was said before. */
static void want_signals(const struct thread *thread)
{
    uint32_t none = TRACE_SIGNALS_NONE;

    __atomic_fetch_or(willing_word(thread), willing_bit(thread), __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&session.header->signals, &none, TRACE_SIGNALS_WANTED, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Whoever traces the process would see it stop at each signal. */
static bool is_traced(void)
{
    static const char key[] = "\nTracerPid:\t";
    char status[STATUS_SIZE] = "";
    long file = SYSCALL4(openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);

    if (syscall_failed(file))
        return false;
    SYSCALL3(read, file, status, sizeof status - 1);
    SYSCALL1(close, file);
    for (const char *at = status; *at; at++)
        if (!memcmp(at, key, sizeof key - 1))
            return at[sizeof key - 1] != '0';
    return false;
}

/* Once in each process. */
static void begin_process(void)
{
    owner = SYSCALL0(getpid);
    period_ns = 1000000000u / session.header->sampling_hz;
    is_stopped |= is_traced();
}

/* Nothing hinders the thread. */
static void begin(struct thread *thread)
{
    thread->sampler_waits = 0;
    if (owner != SYSCALL0(getpid))
        begin_process();
    if (is_stopped || !take_signal())
        return;
    sampler_time_begin(thread);
    if (start_timer(thread))
        thread->entry->is_sampled |= TRACE_SAMPLED_BY_TIMER;
    want_signals(thread);
}

void sampler_begin(struct thread *thread)
{
    if (!session.is_sampled || is_stopped || !session.header->sampling_hz)
        return;
    if (is_blocked() || has_small_stack())
        thread->sampler_waits += !thread->sampler_waits;
    else
        begin(thread);
}

bool sampler_has_signal(void)
{
    struct kernel_action now = {0};

    return session.is_sampled && !is_stopped &&
           !syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, 0, &now, SET_SIZE)) &&
           now.handler == on_signal;
}

bool sampler_may_wait(const struct thread *thread)
{
    return thread->sampler || thread->sampler_waits;
}

void sampler_pause(struct thread *thread)
{
    const struct itimerspec never = {{0, 0}, {0, 0}};

    if (!thread->sampler || thread->sampler_waits || !is_sampling())
        return;
    SYSCALL4(timer_settime, thread->sampler - 1, 0, &never, 0);
    if (__atomic_fetch_and(willing_word(thread), ~willing_bit(thread), __ATOMIC_RELAXED) &
        willing_bit(thread))
        do_without_perf();
    thread->sampler_waits = 1;
}

void sampler_resume(struct thread *thread)
{
    if (thread->sampler_waits && session.is_sampled && !is_stopped && !guard_forked() &&
        (!owner || owner == SYSCALL0(getpid)) && !has_small_stack())
        begin(thread);
}

void sampler_look_again(struct thread *thread)
{
    if (thread->sampler_waits)
        thread->sampler_waits = 1;
}

/* In a handler that was entered with the signal blocked, perf's and the timer's may be pending.
   Another's is sent again. */
static void take_pending(const struct thread *thread)
{
    const uint64_t set = 1ull << (SIGNAL - 1);
    const struct timespec no_time = {0, 0};
    siginfo_t info;

    for (int i = 0; i < 3; i++) {
        if (SYSCALL4(rt_sigtimedwait, &set, &info, &no_time, SET_SIZE) != SIGNAL)
            return;
        if (!is_ours(&info)) {
            SYSCALL4(rt_tgsigqueueinfo, owner, thread->tid, SIGNAL, &info);
            return;
        }
    }
}

void sampler_leave(struct thread *thread)
{
    if (!thread->sampler || thread->sampler_waits || !is_sampling())
        return;
    sampler_pause(thread);
    sampler_end(thread);
    take_pending(thread);
}
