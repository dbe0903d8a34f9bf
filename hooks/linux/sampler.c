#include "hooks/sampler.h"

#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include "hooks/code_at.h"
#include "hooks/guard.h"
#include "hooks/hits.h"
#include "hooks/hooks_code.h"
#include "hooks/linux/current_context.h"
#include "hooks/linux/sampler_hold.h"
#include "hooks/linux/sampler_time.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "hooks/waits.h"
#include "processor.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/attached_agent.h"

#define SIGNAL      SIGURG
#define BIT         (1ull << (SIGNAL - 1))
#define OURS        ATTACHED_TIMER_VALUE
#define SET_SIZE    8 /* bytes of the kernel's sets of signals */
#define SA_RESTORER 0x04000000

/* Signals that an instruction raises. All others wait until the handler has returned, so that none
   of the program's handlers leaves it by longjmp, with the signal blocked. */
#define RAISED                                                                                     \
    (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) |  \
     1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1))

#define LEAST_STACK     6144 /* of an alternate one: what the kernel puts there has up to 3.4 KiB */
#define LONGEST_WAIT_MS 200  /* for the service, which looks every 16 ms at least */

/* The kernel's own form of an action. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

extern void umbra_signal_return(void) __attribute__((visibility("hidden")));

static uint64_t period_ns;
static bool is_stopped;
static long owner;         /* the process that the timers are of */
static bool has_opened;    /* a mask, or whom it was forked by has: sampler_hold.h */
static uint32_t looked_at; /* session for which is_traced was found out */
static bool is_traced;

/* node: a context, or null: the agent. */
static void credit(struct thread *thread, struct trace_node *node, uint64_t ticks)
{
    if (node)
        node->ticks += ticks;
    else
        thread->entry->in_hooks += ticks;
}

/* Counts what the thread has done since the last sample. */
static void count(struct thread *thread, uint64_t ns, uint64_t instruction, uint64_t pointer)
{
    struct trace_node *node = NULL;

    if (!thread->busy && !hooks_code_has(instruction) && !code_is_counting(instruction)) {
        node = current_context(thread, instruction, pointer);
        node->timed++;
        hits_add(thread, node, instruction, ns);
    }
    credit(thread, node, session_ticks_of_ns(ns));
    thread->samples.recent[thread->samples.taken++ % SAMPLES_RECENT] = node;
}

static bool is_ours(const siginfo_t *info)
{
    return info->si_code == SI_TIMER ? (uintptr_t)info->si_value.sival_ptr == (uintptr_t)OURS
                                     : info->si_code == POLL_IN;
}

void sampler_end(struct thread *thread)
{
    if (thread->sampler)
        SYSCALL1(timer_delete, thread->sampler - 1);
    thread->sampler = 0;
    thread->sampler_waits = 0;
    thread->samples.is_held = 0;
}

static void stop_thread(struct thread *thread)
{
    if (thread->sampler && thread->begun == session.number)
        thread->entry->is_sampled |= TRACE_SAMPLED_STOPPED;
    sampler_end(thread);
}

/* Sent by pthread_kill, it is the thread's, and else the process's. */
static void put_back(const siginfo_t *programs, int count)
{
    long tid = SYSCALL0(gettid);

    for (int i = 0; i < count; i++)
        if (programs[i].si_code == SI_TKILL)
            SYSCALL4(rt_tgsigqueueinfo, SYSCALL0(getpid), tid, SIGNAL, &programs[i]);
        else
            SYSCALL3(rt_sigqueueinfo, tid, SIGNAL, &programs[i]);
}

/* Sent by somebody else to a thread whose mask was opened. */
static void take_as_blocked(const siginfo_t *info, uint64_t *mask)
{
    if (!sampler_has_opened(*mask))
        return;
    *mask |= BIT;
    put_back(info, 1); /* blocked in this handler: it stays pending */
}

static void on_signal(int number, siginfo_t *info, void *with)
{
    ucontext_t *context = with;
    struct thread *thread = thread_current();
    uint64_t instruction = processor_instruction(&context->uc_mcontext), ns, seen;

    (void)number;
    if (!is_ours(info))
        take_as_blocked(info, (uint64_t *)&context->uc_sigmask);
    if (!is_ours(info) || !thread || thread->begun != session.number ||
        session.state != SESSION_RUNNING || guard_forked())
        return;
    seen = thread->samples.seen;
    ns = info->si_code == SI_TIMER
             ? sampler_time_of_timer(thread, period_ns, 1 + (uint64_t)info->si_overrun,
                                     processor_is_after_system_call(&context->uc_mcontext))
             : sampler_time_of_perf(thread, period_ns);
    if (!processor_is_after_system_call(&context->uc_mcontext) && !code_is_counting(instruction))
        waits_look(thread); /* else a wait may be over, and not noted yet */
    if (session_is_paused()) {
        sampler_time_take_owed(thread);
        return;
    }
    thread->entry->processor_ns += seen ? thread->samples.seen - seen : ns;
    if (ns)
        count(thread, ns, instruction, processor_stack_pointer(&context->uc_mcontext));
}

void sampler_settle(struct thread *thread)
{
    uint32_t recents = thread->samples.taken;
    uint64_t ns, ticks;

    if (!thread->sampler || thread->begun != session.number || guard_forked() ||
        (long)thread->tid != SYSCALL0(gettid))
        return;
    ns = sampler_time_take_rest(thread);
    if (session_is_paused())
        return;
    thread->entry->processor_ns += ns;
    if (!recents)
        return;
    recents = recents < SAMPLES_RECENT ? recents : SAMPLES_RECENT;
    ticks = session_ticks_of_ns(ns + sampler_time_take_owed(thread));
    for (uint32_t i = 0; i < recents; i++)
        credit(thread, thread->samples.recent[i], ticks / recents);
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

bool sampler_handles_signal(void)
{
    struct kernel_action action = {0};

    return session.is_sampled &&
           !syscall_failed(SYSCALL4(rt_sigaction, SIGNAL, 0, &action, SET_SIZE)) &&
           action.handler == on_signal;
}

/* A thread that has it blocked would get one signal at last, at another time. */
bool sampler_is_blocked(void)
{
    uint64_t blocked = 0;

    return syscall_failed(SYSCALL4(rt_sigprocmask, SIG_BLOCK, 0, &blocked, SET_SIZE)) ||
           blocked & BIT;
}

bool sampler_has_opened(uint64_t mask)
{
    return has_opened && !(mask & BIT) && sampler_mask_is_full(mask);
}

bool sampler_open_mask(void)
{
    uint64_t set = BIT;
    uint64_t blocked = 0;

    if (syscall_failed(SYSCALL4(rt_sigprocmask, SIG_BLOCK, 0, &blocked, SET_SIZE)))
        return false;
    if (!(blocked & BIT))
        return true;
    if (!sampler_mask_is_full(blocked))
        return false;
    has_opened = true;
    return !syscall_failed(SYSCALL4(rt_sigprocmask, SIG_UNBLOCK, &set, 0, SET_SIZE));
}

void sampler_close_mask(void)
{
    uint64_t set = BIT;
    uint64_t blocked = 0;

    if (has_opened && !syscall_failed(SYSCALL4(rt_sigprocmask, SIG_BLOCK, 0, &blocked, SET_SIZE)) &&
        sampler_has_opened(blocked))
        SYSCALL4(rt_sigprocmask, SIG_BLOCK, &set, 0, SET_SIZE);
}

bool sampler_is_small_stack(const stack_t *stack)
{
    return !(stack->ss_flags & SS_DISABLE) && stack->ss_size < LEAST_STACK;
}

void sampler_reopen_mask(void)
{
    if (has_opened)
        sampler_open_mask();
}

/* The thread's alternate stack would be run over. */
static bool has_small_stack(void)
{
    stack_t stack = {0};

    return syscall_failed(SYSCALL2(sigaltstack, 0, &stack)) || sampler_is_small_stack(&stack);
}

static bool start_timer(struct thread *thread)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGNAL,
                             .sigev_value.sival_ptr = (void *)(uintptr_t)OURS};
    struct itimerspec each = {{0, (long)period_ns}, {0, (long)period_ns}};
    int timer;

    event._sigev_un._tid = (int)thread->tid;
    if (syscall_failed(SYSCALL3(timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer)))
        return false;
    thread->sampler = timer + 1;
    return !syscall_failed(SYSCALL4(timer_settime, timer, 0, &each, 0));
}

static uint32_t signals_state(void)
{
    return __atomic_load_n(&session.header->signals, __ATOMIC_ACQUIRE);
}

/* The service sends this process no more signals. */
static void refuse_signals(void)
{
    uint32_t state;

    if (session.state != SESSION_RUNNING || guard_forked())
        return;
    state = signals_state();
    while (state < TRACE_SIGNALS_UNWANTED &&
           !__atomic_compare_exchange_n(&session.header->signals, &state,
                                        state == TRACE_SIGNALS_SENT ? TRACE_SIGNALS_UNWANTED
                                                                    : TRACE_SIGNALS_OVER,
                                        false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
}

/* Refuses the service's signals, and returns when no more are sent. */
static void wait_for_last_signal(void)
{
    const struct timespec wait = {0, 1000000};

    refuse_signals();
    if (session.state == SESSION_RUNNING && !guard_forked())
        for (int i = 0; i < LONGEST_WAIT_MS && signals_state() == TRACE_SIGNALS_UNWANTED; i++)
            SYSCALL_SLEEP(&wait);
}

/* Takes the program's own of the signals that are pending and blocked, which are pending no more,
   nor are ours. Returns how many: the thread may have one, and the process. */
static int take_pending(siginfo_t programs[2])
{
    const struct timespec at_once = {0, 0};
    uint64_t pending = 0, set = BIT;
    int found = 0;

    if (syscall_failed(SYSCALL2(rt_sigpending, &pending, SET_SIZE)) || !(pending & set))
        return 0;
    while (found < 2 &&
           !syscall_failed(SYSCALL4(rt_sigtimedwait, &set, &programs[found], &at_once, SET_SIZE)))
        found += !is_ours(&programs[found]);
    return found;
}

/* Afterwards none of the sampler's signals is pending: the kernel drops those of a number that is
   not handled. */
void sampler_stop(void)
{
    struct kernel_action none = {.handler = (void *)SIG_DFL};
    siginfo_t programs[2];
    int count;

    if (!session.is_sampled || is_stopped)
        return;
    if (owner == SYSCALL0(getpid)) { /* not its child, which shares its memory (vfork) */
        is_stopped = true;
        refuse_signals();
        threads_each(stop_thread);
    }
    if (!sampler_handles_signal())
        return;
    count = take_pending(programs);
    SYSCALL4(rt_sigaction, SIGNAL, &none, 0, SET_SIZE);
    put_back(programs, count);
}

void sampler_give_up(void)
{
    if (session.is_sampled && !is_stopped && owner == SYSCALL0(getpid))
        wait_for_last_signal();
    sampler_stop();
}

struct thread *sampler_thread(void)
{
    struct thread *thread = session.is_sampled && !is_stopped ? thread_current() : NULL;

    return thread && thread->sampler && thread->begun == session.number && !guard_forked() &&
                   owner == SYSCALL0(getpid)
               ? thread
               : NULL;
}

void sampler_hold(struct thread *thread)
{
    const struct itimerspec never = {{0, 0}, {0, 0}};
    struct itimerspec left = {{0, 0}, {0, 0}};
    siginfo_t programs[2];

    wait_for_last_signal();
    if (!thread->samples.is_held) {
        SYSCALL4(timer_settime, thread->sampler - 1, 0, &never, &left);
        thread->samples.left =
            (uint64_t)left.it_value.tv_sec * 1000000000 + (uint64_t)left.it_value.tv_nsec;
        thread->samples.is_held = 1;
        thread->sampler_waits = 1;
    }
    put_back(programs, take_pending(programs));
}

/* is_due: the next signal is, at once. Else after what is left of the period. */
static void go_on(struct thread *thread, bool is_due)
{
    uint64_t left = thread->samples.left ? thread->samples.left : 1;
    struct itimerspec next = {{0, (long)period_ns},
                              {(long)(left / 1000000000), (long)(left % 1000000000)}};

    if (is_due) /* by a time that is over */
        next.it_value = (struct timespec){0, 1};
    thread->sampler_waits = 0;
    thread->samples.is_held = 0;
    SYSCALL4(timer_settime, thread->sampler - 1, is_due ? TIMER_ABSTIME : 0, &next, 0);
}

void sampler_release(struct thread *thread)
{
    if (!has_small_stack())
        go_on(thread, sampler_time_is_late(thread, period_ns));
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

/* Looks once a session whether the process is traced: a tracer would see each signal. */
static bool look_for_tracer(void)
{
    if (looked_at != session.number) {
        is_traced = system_is_traced();
        looked_at = session.number;
    }
    return is_traced;
}

void sampler_begin(struct thread *thread)
{
    if (session.is_sampled)
        waits_look(thread);
    if (!session.is_sampled || is_stopped || !session.header->sampling_hz || look_for_tracer())
        return;
    if ((long)thread->tid != SYSCALL0(gettid)) /* a child of vfork, which has its own mask */
        return;
    if (!sampler_open_mask() || has_small_stack()) {
        thread->sampler_waits += !thread->sampler_waits;
        return;
    }
    if (thread->sampler) {
        go_on(thread, false);
        return;
    }
    thread->sampler_waits = 0;
    period_ns = 1000000000u / session.header->sampling_hz;
    owner = SYSCALL0(getpid);
    if (!take_signal())
        return;
    sampler_time_begin(thread);
    thread->samples.taken = 0;
    if (!start_timer(thread))
        return;
    thread->entry->is_sampled |= TRACE_SAMPLED_BY_TIMER;
    want_signals(thread);
}
