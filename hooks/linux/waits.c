#include "hooks/waits.h"

#include <signal.h>

#include "hooks/frames.h"
#include "hooks/guard.h"
#include "hooks/linux/current_context.h"
#include "hooks/linux/sampler_time.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "hooks/system.h"
#include "thunkstash/linux/syscalls.h"

#define SIGNAL_SET  8 /* bytes of the kernel's */
#define ALL_SIGNALS (~0ull)

/* How much further the wall clock went than the thread, since the last look; in ticks. */
static uint64_t look(struct thread *thread, uint64_t now)
{
    uint64_t processor = sampler_time_of_thread();
    uint64_t wall = now - thread->waits.seen;
    uint64_t ran = session_ticks_of_ns(processor - thread->waits.seen_processor);
    bool is_known = thread->waits.seen && processor && wall > ran;

    thread->waits.seen = processor ? now : 0;
    thread->waits.seen_processor = processor;
    return is_known ? wall - ran : 0;
}

void waits_look(struct thread *thread)
{
    look(thread, ticks_now());
}

/* What the system call that is over took. */
static uint64_t taken(const struct thread *thread, uint64_t now)
{
    return (uint64_t)((uint32_t)(now >> WAIT_SHIFT) - thread->frames->wait) << WAIT_SHIFT;
}

static void note(struct thread *thread, uint64_t instruction, uint64_t pointer)
{
    uint64_t now = ticks_now(), call = taken(thread, now), waited = look(thread, now);
    struct trace_wait *wait;

    waited = waited < call ? waited : call;
    if (waited < (uint64_t)WAIT_SHORT << WAIT_SHIFT || session_is_paused())
        return;
    wait = waits_of(thread, trace_index(current_context(thread, instruction, pointer)));
    if (!wait)
        return;
    wait->count++;
    wait->ticks += waited;
    if (waited <= wait->longest)
        return;
    wait->longest = waited;
    wait->ended = now;
}

/*
 * A system call of a copy is over. instruction: the next one; pointer: the stack pointer there.
 * Signals wait: a handler may leave by longjmp, and pthread_cancel does where the C library's
 * functions that wait are.
 */
FROM_ASSEMBLY void umbra_note_wait(uint64_t instruction, uint64_t pointer);

FROM_ASSEMBLY void umbra_note_wait(uint64_t instruction, uint64_t pointer)
{
    struct thread *thread = thread_current();
    uint64_t all = ALL_SIGNALS, signals;

    if (!thread || thread->begun != session.number || session.state != SESSION_RUNNING ||
        guard_forked() || thread->tid != system_thread_id()) /* it is a child that shares memory */
        return;
    if (syscall_failed(SYSCALL4(rt_sigprocmask, SIG_SETMASK, &all, &signals, SIGNAL_SET)))
        return;
    if (!thread->busy)
        note(thread, instruction - 1, pointer); /* the next one may be another function's */
    SYSCALL4(rt_sigprocmask, SIG_SETMASK, &signals, 0, SIGNAL_SET);
}
