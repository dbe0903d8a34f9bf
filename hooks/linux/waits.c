#include "hooks/waits.h"

#include <signal.h>

#include "hooks/frames.h"
#include "hooks/guard.h"
#include "hooks/linux/current_context.h"
#include "hooks/linux/sampler_time.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "hooks/system.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/answered_calls.h"

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

/* What waits.S has pushed: all but rax as they were at the system call. */
struct kept_registers {
    uint64_t flags, r10, r9, r8, rdi, rsi, rdx, rax, rcx;
};

/* Whether this process has umbra record's filter, and so had from its start; asked once. */
static bool has_supervisor(void)
{
    static enum { NOT_ASKED, NONE, SUPERVISED } known;

    if (__atomic_load_n(&known, __ATOMIC_RELAXED) == NOT_ASKED)
        __atomic_store_n(&known,
                         SYSCALL1(gettid, ANSWERED_QUESTION) == -ANSWERED_ERROR ? SUPERVISED : NONE,
                         __ATOMIC_RELAXED);
    return __atomic_load_n(&known, __ATOMIC_RELAXED) == SUPERVISED;
}

/* The number of a system call stands in front of where it goes on. */
static bool is_answered(uint64_t next, const struct kept_registers *kept)
{
    const uint64_t arguments[] = {kept->rdi, kept->rsi, kept->rdx, kept->r10, kept->r8, kept->r9};
    const struct answered_call *call;
    int32_t number;

    memcpy(&number, (const void *)(next - sizeof(number)), sizeof(number));
    call = answered_call_find(CALLS_OF_OWN, number);
    return call && answered_call_has(call, arguments) && has_supervisor();
}

static void note_in_context(struct thread *thread, uint64_t instruction, uint64_t pointer,
                            uint64_t waited, uint64_t now)
{
    struct trace_wait *wait =
        waits_of(thread, trace_index(current_context(thread, instruction, pointer)));

    if (!wait)
        return;
    wait->count++;
    wait->ticks += waited;
    if (waited <= wait->longest)
        return;
    wait->longest = waited;
    wait->ended = now;
}

static void note(struct thread *thread, uint64_t next, uint64_t pointer,
                 const struct kept_registers *kept)
{
    uint64_t now = ticks_now(), call = taken(thread, now), waited = look(thread, now);

    waited = waited < call ? waited : call;
    if (waited < (uint64_t)WAIT_SHORT << WAIT_SHIFT || session_is_paused())
        return;
    if (is_answered(next, kept)) {
        thread->entry->answered++;
        thread->entry->answered_ticks += waited;
    } else { /* the next instruction may be another function's */
        note_in_context(thread, next - 1, pointer, waited, now);
    }
}

/*
 * A system call of a copy is over. next: the instruction after it; pointer: the stack pointer
 * there. Signals wait: a handler may leave by longjmp, and pthread_cancel does where the C
 * library's functions that wait are.
 */
FROM_ASSEMBLY void umbra_note_wait(uint64_t next, uint64_t pointer,
                                   const struct kept_registers *kept);

FROM_ASSEMBLY void umbra_note_wait(uint64_t next, uint64_t pointer,
                                   const struct kept_registers *kept)
{
    struct thread *thread = thread_current();
    uint64_t all = ALL_SIGNALS, signals;

    if (!thread || thread->begun != session.number || session.state != SESSION_RUNNING ||
        guard_forked() || thread->tid != system_thread_id()) /* it is a child that shares memory */
        return;
    if (syscall_failed(SYSCALL4(rt_sigprocmask, SIG_SETMASK, &all, &signals, SIGNAL_SET)))
        return;
    if (!thread->busy)
        note(thread, next, pointer, kept);
    SYSCALL4(rt_sigprocmask, SIG_SETMASK, &signals, 0, SIGNAL_SET);
}
