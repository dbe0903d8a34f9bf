/*
 * Durations in buckets whose width is a sixteenth of where they begin, at most: sixteen to a power of two.
 *
 *      ticks    0  1  2 … 31 | 32-33  34-35 … 62-63 | 64-67  68-71 … 124-127 | 128-135 …
 *      bucket   0  1  2 … 31 | 32     33    … 47    | 48     49    … 63      | 64      …
 *
 * What is 2^48 or longer, a day and more, is in the last one.
 */
#ifndef UMBRA_TIME_BUCKETS_H
#define UMBRA_TIME_BUCKETS_H

#include <stdint.h>

#define TIME_BUCKETS_IN_POWER 16u
#define TIME_BUCKETS          720u

static inline uint32_t time_bucket(uint64_t ticks)
{
    uint32_t power, bucket;

    if (ticks < TIME_BUCKETS_IN_POWER)
        return (uint32_t)ticks;
    power = 63 - (uint32_t)__builtin_clzll(ticks);
    bucket = (power - 3) * TIME_BUCKETS_IN_POWER +
             (uint32_t)(ticks >> (power - 4) & (TIME_BUCKETS_IN_POWER - 1));
    return bucket < TIME_BUCKETS ? bucket : TIME_BUCKETS - 1;
}

/* The least duration of a bucket. The next bucket's is one more than its longest. */
static inline uint64_t time_bucket_least(uint32_t bucket)
{
    if (bucket < TIME_BUCKETS_IN_POWER)
        return bucket;
    return (uint64_t)(TIME_BUCKETS_IN_POWER + bucket % TIME_BUCKETS_IN_POWER)
           << (bucket / TIME_BUCKETS_IN_POWER - 1);
}

#endif
