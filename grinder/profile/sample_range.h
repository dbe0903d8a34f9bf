/*
 * How wide a time is that is made of samples.
 *
 * Of `all` samples of a thread, `samples` were of a function. If each of them could as well have been
 * taken a little earlier or later, that number is binomial. The range is Wilson's: it holds the true
 * share in 19 of 20 cases, also where there are few samples, or none:
 *
 *      share      = (samples + z^2 / 2) / (all + z^2)                            z = 1.96
 *      half width = z / (all + z^2) * sqrt(samples * (all - samples) / all + z^2 / 4)
 *
 *      samples of 1,000       0          1           10           100          1,000
 *      range              0 ... 4    0.2 ... 6    5 ... 18     83 ... 120    996 ... 1,000
 */
#ifndef UMBRA_GRINDER_SAMPLE_RANGE_H
#define UMBRA_GRINDER_SAMPLE_RANGE_H

#include <stdint.h>

struct sample_range {
    uint64_t low_ns, high_ns;
};

/* What a time of ns may really be, which is made of `samples` of the `all` samples that make up
   all_ns. Those of a function may stand for more than others do, as samples in the kernel: then it
   is as if all were as long as its own. */
struct sample_range sample_range(uint64_t ns, uint64_t samples, uint64_t all_ns, uint64_t all);

#endif
