/*
 * How long calls of a function took, each of them: of functions that instrument --time names
 * (struct trace_times), of all contexts and threads of a part.
 */
#ifndef UMBRA_GRINDER_CALL_TIMES_H
#define UMBRA_GRINDER_CALL_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

struct call_times {
    uint32_t function; /* as images.h numbers it */
    uint64_t calls;    /* that returned */
    double ns;         /* of all of them */
    double longest_ns;
    double longest_at_ns; /* when that one ended, from the begin of the recording of its process */
    double ns_per_tick;
    uint64_t *buckets; /* calls: TIME_BUCKETS, in ticks */
};

/* {0} is an empty one. Ascending by function, once it is sorted. */
struct call_times_list {
    struct call_times *items;
    size_t count, room;
};

/* Adds a record of a process, whose header has the clock's rate. */
void call_times_add(struct call_times_list *list, uint32_t function,
                    const struct trace_times *times, const struct trace_header *header);
/* Null if there are none of that function. */
const struct call_times *call_times_of(const struct call_times_list *list, uint32_t function);
void call_times_free(struct call_times_list *list);

/*
 * What that share of the calls took at most, of 1,000 calls and a share of 0.99 the 990th: the middle of its
 * bucket, which is at most 1/32 from any time in it.
 */
uint64_t call_times_quantile_ns(const struct call_times *times, double share);

/* The mean of them. */
uint64_t call_times_mean_ns(const struct call_times *times);

/* The list, longest p99 first: pointers into it, count of them, to be freed. */
const struct call_times **call_times_slowest(const struct call_times_list *list);

/* The quantiles that are shown, with what they are called. */
extern const struct call_times_quantile {
    double share;
    const char *name, *key;
} call_times_quantiles[];

#define CALL_TIMES_QUANTILES 4

#endif
