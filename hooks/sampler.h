/*
 * Times from samples (enum trace_timing): a thread's time is that of its processor, and whose it is,
 * the thread says itself, a thousand times a second of that time.
 *
 *      timer on the thread's processor time
 *              |  a signal, which the thread takes when it is about to run on in user mode
 *      context of the call that was interrupted (executed.h)
 *              |
 *      node->ticks += the periods that went by since the last signal
 *
 * So all time counts once, for one context: times add up to the thread's processor time, whatever
 * the calls cost. Linux sends such signals where it looks at the clock, 250 times a second on many
 * machines. A thread gets one only as it runs, so none of its system calls is interrupted.
 *
 * Where the kernel allows it, the service has perf send the same signal each period
 * (trace_format.h, enum trace_signals). It is only sent out of user mode, as else it would interrupt
 * system calls. So what perf passes over is time in the kernel, and that is left to the timer, which
 * reaches a thread as it comes out of the kernel:
 *
 *      processor time   user  user  kernel kernel kernel user  user
 *      perf              P     P      -      -      -     P     P      each to the context it finds
 *      timer                                     ^                     3 P to the caller of that
 *                                                                      system call
 *
 * A page fault is no call that a handler could see. But the kernel counts them. A microsecond for each
 * is kept apart from what system calls took, and goes to where the timer finds the thread while there
 * are many. What is left when it is more than eight of the timer's signals stand for goes to where
 * that finds the thread.
 *
 * At a thread's end there is time that no sample stands for: less than a period in user mode, and what is
 * owed. It goes to the contexts of the last SAMPLES_RECENT samples in equal parts, so that a thread of a few
 * milliseconds has all of its time, too. trace_thread.processor_ns says what the thread's clock does.
 *
 * The signal is SIGURG, which is ignored where nobody has a handler for it, so a program that resets
 * its handlers loses samples and nothing else. A program that wants it for itself gets it: then there
 * are no more samples.
 */
#ifndef UMBRA_HOOKS_SAMPLER_H
#define UMBRA_HOOKS_SAMPLER_H

#include "hooks/thread.h"

/* The calling thread, which has just begun, takes samples from now on, if the session wants it and
   the system allows it. One that has the signal blocked, as each has that pthread_create has just
   made, waits for it: see thread_take_samples. */
void sampler_begin(struct thread *thread);

/* A thread that is gone, or is about to, takes none any more. */
void sampler_end(struct thread *thread);

/* Accounts for what the calling thread had of the processor since its last sample, and for what is owed: they go
   to the contexts of the last samples in equal parts. Nothing, if it is another thread. */
void sampler_settle(struct thread *thread);

/* No thread of the process takes samples any more. */
void sampler_stop(void);

/* No thread of the process takes samples any more, and the service sends no signal: the program
   wants to handle them itself. */
void sampler_give_up(void);

#endif
