/*
 * Self times of a thread's functions from two sources: the timing of its calls, and its samples.
 *
 *      timed      the raw self time less what measuring costs (cost.c). Knows waits and single
 *                 calls. Off by some part of what a clock reading costs for each call of the
 *                 function and each that it makes: the processor works on callers and callees at
 *                 the same time, and a reading puts an end to that.
 *      sampled    samples in the function * their period. Knows the program's code from the hooks'.
 *                 Off by the square root of their number; has no part in waits and in the kernel.
 *
 * The errors of the two are independent. So the time that is believed is the mean of both, each
 * weighted by the inverse square of its error:
 *
 *      error of timed     events * uncertainty        events: calls of it, and from it
 *      error of sampled   sqrt((sampled + period) * period)
 *
 * So a hundred million calls of 5 ns get their time from samples, and a thousand calls of 1 ms get
 * it from timing. If more was timed than both errors explain, the thread waited, or was in the
 * kernel: what exceeds twice the error is added as it is.
 *
 *      believed
 *         |                         /
 *         |                       /   timed, less a constant
 *         |            ________ /
 *         |    ______/ between the two
 *         +---------------------+------> timed
 *              sampled          + 2 errors
 *
 * A function's contexts share what is believed in proportion to what was timed in each, and a
 * little by their events, for those whose estimates leave them nothing.
 */
#ifndef UMBRA_GRINDER_SELF_TIME_H
#define UMBRA_GRINDER_SELF_TIME_H

#include "grinder/profile/tree.h"

/* The self time of one context, or of all of a function. */
struct timed_self {
    double ns;     /* below 0: its callees' estimates come to more than its own */
    double events; /* calls of it and from it */
};

struct self_times;

/* Null if the thread was never found anywhere. uncertainty_ns: of a timed call. Function numbers
   are below function_count. */
struct self_times *self_times_begin(const struct thread_samples *samples, size_t function_count,
                                    double uncertainty_ns);
void self_times_free(struct self_times *times);

/* All contexts first, one by one. */
void self_times_note(struct self_times *times, uint32_t function, struct timed_self context);

/* Then each context's part of what is believed of its function. */
double self_times_estimate(const struct self_times *times, uint32_t function,
                           struct timed_self context);

/* What both sources together say. */
double self_time_mean(struct timed_self timed, double sampled_ns, double period_ns,
                      double uncertainty_ns);

#endif
