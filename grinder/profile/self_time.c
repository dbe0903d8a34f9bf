#include "grinder/profile/self_time.h"

#include <math.h>
#include <stdlib.h>

#include "support/memory.h"

#define NS_OF_AN_EVENT 1 /* what an event weighs when contexts share */
#define SURE           2 /* errors that two figures differ by if they are not of the same thing */

struct function_time {
    struct timed_self timed;
    double weight; /* of all contexts */
    double sampled_ns;
};

struct self_times {
    double period_ns, uncertainty_ns;
    struct function_time functions[]; /* by number */
};

struct self_times *self_times_begin(const struct thread_samples *samples, size_t function_count,
                                    double uncertainty_ns)
{
    struct self_times *times;

    if (!samples->count)
        return NULL;
    times = memory_zeroed(1, sizeof(*times) + function_count * sizeof(*times->functions));
    times->period_ns = samples->period_ns;
    times->uncertainty_ns = uncertainty_ns;
    for (size_t i = 0; i < samples->count; i++)
        if (samples->functions[i].function < function_count)
            times->functions[samples->functions[i].function].sampled_ns =
                (double)samples->functions[i].count * samples->period_ns;
    return times;
}

void self_times_free(struct self_times *times)
{
    free(times);
}

static double weight_of(struct timed_self context)
{
    return (context.ns > 0 ? context.ns : 0) + context.events * NS_OF_AN_EVENT;
}

void self_times_note(struct self_times *times, uint32_t function, struct timed_self context)
{
    struct function_time *of_function = &times->functions[function];

    of_function->timed.ns += context.ns > 0 ? context.ns : 0;
    of_function->timed.events += context.events;
    of_function->weight += weight_of(context);
}

double self_time_mean(struct timed_self timed, double sampled_ns, double period_ns,
                      double uncertainty_ns)
{
    double of_timed = timed.events * uncertainty_ns * timed.events * uncertainty_ns;
    double of_sampled = (sampled_ns + period_ns) * period_ns;
    double more = timed.ns - sampled_ns, sure = SURE * sqrt(of_timed + of_sampled);
    double waited = more > sure ? more - sure : 0;

    return sampled_ns + (more - waited) * of_sampled / (of_timed + of_sampled) + waited;
}

double self_times_estimate(const struct self_times *times, uint32_t function,
                           struct timed_self context)
{
    const struct function_time *of_function = &times->functions[function];

    if (of_function->weight <= 0)
        return 0;
    return self_time_mean(of_function->timed, of_function->sampled_ns, times->period_ns,
                          times->uncertainty_ns) *
           weight_of(context) / of_function->weight;
}
