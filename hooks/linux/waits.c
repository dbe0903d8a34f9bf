#include "hooks/waits.h"

#include <signal.h>
#include <time.h>

#include "hooks/executed.h"
#include "hooks/frames.h"
#include "hooks/guard.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "hooks/system.h"
#include "thunkstash/linux/syscalls.h"

#define SIGNAL_SET  8 /* bytes of the kernel's */
#define ALL_SIGNALS (~0ull)

/* In ticks of the wall clock; 0 if it cannot be read. */
static uint64_t processor_ticks(void)
{
    struct timespec time;
    uint64_t ns;

    if (syscall_failed(SYSCALL2(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time)))
        return 0;
    ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return ns * (session.header->ticks_per_second / 1000) / 1000000;
}

/* How much further the wall clock went than the thread, since the last look. */
static uint64_t look(struct thread *thread, uint64_t now)
{
    uint64_t processor = processor_ticks();
    uint64_t wall = now - thread->waits.seen, ran = processor - thread->waits.seen_processor;
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

static struct trace_node *context_of(struct thread *thread, uint64_t instruction, uint64_t pointer)
{
    return slow_path_on_own_stack(thread, (const uint64_t *)pointer) && thread->own.ordered
               ? executed_context(thread, instruction, pointer)
               : slow_path_context_elsewhere(thread, pointer);
}

static void note(struct thread *thread, uint64_t instruction, uint64_t pointer)
{
    uint64_t now = ticks_now(), call = taken(thread, now), waited = look(thread, now);
    struct trace_wait *wait;

    waited = waited < call ? waited : call;
    if (waited < (uint64_t)WAIT_SHORT << WAIT_SHIFT || session_is_paused())
        return;
    wait = waits_of(thread, trace_index(context_of(thread, instruction, pointer)));
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
