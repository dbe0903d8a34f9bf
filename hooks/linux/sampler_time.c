#include "hooks/linux/sampler_time.h"

#include <sys/resource.h>
#include <time.h>

#include "hooks/session.h"
#include "thunkstash/linux/syscalls.h"

#define MOST_LONE_TICKS 8        /* of the timer in user mode, without a signal of perf's */
#define FAULT_NS        1000     /* that one takes, or so */
#define MANY_FAULTS     64       /* since the signal before: the timer's is of one */
#define LATE_NS         20000000 /* more than signals of the timer lie apart */
#define MOST_OWED       8        /* times what a signal of the timer's stands for */

uint64_t sampler_time_of_thread(void)
{
    struct timespec time;

    if (syscall_failed(SYSCALL2(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time)))
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The time since the last look. If the clock cannot be read: what the signal itself stands for. */
static uint64_t unseen(struct thread *thread, uint64_t otherwise)
{
    uint64_t now = sampler_time_of_thread();

    if (!now || !thread->samples.seen)
        return otherwise;
    return now > thread->samples.seen ? now - thread->samples.seen : 0;
}

bool sampler_time_is_late(struct thread *thread, uint64_t period_ns)
{
    return unseen(thread, 0) > period_ns + LATE_NS;
}

static void see(struct thread *thread, uint64_t ns)
{
    if (thread->samples.seen)
        thread->samples.seen += ns;
}

uint64_t sampler_time_take_owed(struct thread *thread)
{
    uint64_t owed = thread->samples.owed;

    thread->samples.owed = thread->samples.of_faults = 0;
    return owed;
}

/* Takes a part of what is owed: what page faults took, the rest, or both. */
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

/* The kernel's own form, whatever a time has for the C library. */
struct usage {
    long times[4], most_memory, shared[3], minor_faults, rest[9];
};

/* Page faults of the thread since the signal before. */
static uint64_t new_faults(struct thread *thread)
{
    struct usage usage;
    uint64_t before = thread->samples.faults;

    if (syscall_failed(SYSCALL2(getrusage, RUSAGE_THREAD, &usage)))
        return 0;
    thread->samples.faults = (uint64_t)usage.minor_faults;
    thread->samples.of_faults += (thread->samples.faults - before) * FAULT_NS;
    return thread->samples.faults - before;
}

uint64_t sampler_time_of_perf(struct thread *thread, uint64_t period_ns)
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

uint64_t sampler_time_of_timer(struct thread *thread, uint64_t period_ns, uint64_t periods,
                               bool is_call)
{
    uint64_t ns = periods * period_ns;
    uint64_t passed = unseen(thread, thread->samples.has_perf ? 0 : ns);
    bool is_fault = new_faults(thread) >= MANY_FAULTS;

    if (thread->samples.has_perf && !is_call && !is_fault &&
        ++thread->samples.lone_ticks > MOST_LONE_TICKS)
        thread->samples.has_perf = 0; /* it sends no more */
    if (!thread->samples.has_perf) {
        see(thread, passed);
        return passed + sampler_time_take_owed(thread);
    }
    passed -= passed % period_ns;
    see(thread, passed);
    thread->samples.owed += passed;
    return thread->samples.owed > MOST_OWED * ns ? sampler_time_take_owed(thread)
                                                 : take_part(thread, is_fault, is_call);
}

uint64_t sampler_time_take_rest(struct thread *thread)
{
    uint64_t ns = unseen(thread, 0);

    see(thread, ns);
    return ns;
}

void sampler_time_begin(struct thread *thread)
{
    thread->samples.seen = sampler_time_of_thread();
    thread->samples.has_perf = thread->samples.lone_ticks = 0;
    new_faults(thread);
    sampler_time_take_owed(thread);
}
