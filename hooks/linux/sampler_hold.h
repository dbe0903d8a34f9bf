/*
 * A thread whose samples are held gets no signal of the sampler's, and none is pending. So a program that
 * has blocked the signal, and looks at what is pending or lets it in while it waits, finds what it would
 * find without samples:
 *
 *      sigprocmask(SIG_BLOCK, …)     the thread goes on: a signal of ours may become pending, and comes in
 *                                    as it is unblocked
 *      ppoll, sigwait, execve, …     hold: the timer is stopped, what is pending of ours is dropped;
 *              |                     perf's signals end for the whole process, at its first hold
 *      sigprocmask(SIG_SETMASK, …)   release: what was left of the period begins
 *
 * A thread is held, too, while its alternate stack is too small for a sample. sampler_calls.c says which
 * calls of the C library's lead here. Where a thread unblocks the signal in another way, as it does that
 * returns from a handler in which it was held, or with a system call of its own, one of its next slow
 * paths finds that (thread_take_samples).
 */
#ifndef UMBRA_HOOKS_LINUX_SAMPLER_HOLD_H
#define UMBRA_HOOKS_LINUX_SAMPLER_HOLD_H

#include <signal.h>

#include "hooks/thread.h"
#include "trace/attached_agent.h"

/* The calling thread, if it is sampled or held. Null in a child of vfork, which shares its memory, and in
   one of fork that has not begun a session of its own. */
struct thread *sampler_thread(void);

/* Holds that thread. If it is held already, drops what is pending. */
void sampler_hold(struct thread *thread);

/* Releases a thread that is held and about to unblock the signal. */
void sampler_release(struct thread *thread);

/* Whether the calling thread blocks the signal. */
bool sampler_is_blocked(void);

/*
 * Libraries make threads that block all signals, so that handlers run in the program's own: that is not about
 * this one, and such threads (xz -T2 has one) may do all the work. The agent *opens* a full mask for it, one
 * that leaves at most MOST_OPEN of the 64 signals:
 *
 *      pthread_sigmask(SIG_SETMASK, all, old)   the signal is unblocked again behind it; `old` has it, where
 *                                               all others are blocked
 *      a thread begins with such a mask         its next slow path does the same (sampler_begin)
 *      somebody else sends the signal           it is blocked, and sent again to whom it was sent
 *      execve, posix_spawn, system, popen       it is blocked, for the other program
 *
 * So a full mask without this signal is one that was opened, and no thread needs to be remembered. The
 * exception is a program that fills a mask and takes out SIGURG alone: it finds it blocked if it asks.
 */
#define MOST_OPEN ATTACHED_MOST_OPEN

/* Whether that is a mask to be opened, or was one: the signal itself does not count. */
static inline bool sampler_mask_is_full(uint64_t mask)
{
    uint64_t open = ~mask;

    for (int i = 0; i < MOST_OPEN; i++)
        open &= open - 1; /* one less */
    return !open;
}

/* Opens the calling thread's mask, if it is a full one that is closed. True: the signal is not blocked. */
bool sampler_open_mask(void);

/* Whether that mask was opened. */
bool sampler_has_opened(uint64_t mask);

/* The calling thread's is closed again, if it was; and opened, if the process has opened one. */
void sampler_close_mask(void);
void sampler_reopen_mask(void);

/* Whether the handler would run over this alternate stack. */
bool sampler_is_small_stack(const stack_t *stack);

/* Whether the process has the sampler's handler, which the program does not know of. */
bool sampler_handles_signal(void);

#endif
