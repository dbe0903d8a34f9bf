#include "grinder/profile/call_times.h"

#include <stdlib.h>

#include "support/memory.h"
#include "trace/time_buckets.h"

#define SLOW 0.99

const struct call_times_quantile call_times_quantiles[CALL_TIMES_QUANTILES] = {
    {0.5, "p50", "p50_ns"},
    {0.9, "p90", "p90_ns"},
    {0.99, "p99", "p99_ns"},
    {0.999, "p99.9", "p999_ns"},
};

/* Where the function's times are, or are to be put. */
static size_t place_of(const struct call_times_list *list, uint32_t function)
{
    size_t first = 0, end = list->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (list->items[middle].function < function)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static struct call_times *take(struct call_times_list *list, uint32_t function, double ns_per_tick)
{
    size_t place = place_of(list, function);

    if (place < list->count && list->items[place].function == function)
        return &list->items[place];
    list->items = memory_grow(list->items, list->count, &list->room, sizeof(*list->items));
    for (size_t i = list->count++; i > place; i--)
        list->items[i] = list->items[i - 1];
    list->items[place] =
        (struct call_times){.function = function,
                            .ns_per_tick = ns_per_tick,
                            .buckets = memory_zeroed(TIME_BUCKETS, sizeof(uint64_t))};
    return &list->items[place];
}

/* The middle of a bucket, in ticks. */
static double middle_of(uint32_t bucket)
{
    return ((double)time_bucket_least(bucket) + (double)time_bucket_least(bucket + 1) - 1) / 2;
}

/* The bucket that a time of a process on another machine falls into, whose clock has another rate.
 */
static uint32_t bucket_of(const struct call_times *times, uint32_t bucket, double ns_per_tick)
{
    double factor = ns_per_tick / times->ns_per_tick;

    return factor > 0.999 && factor < 1.001 ? bucket
                                            : time_bucket((uint64_t)(middle_of(bucket) * factor));
}

void call_times_add(struct call_times_list *list, uint32_t function,
                    const struct trace_times *record, const struct trace_header *header)
{
    double ns_per_tick = 1e9 / (double)header->ticks_per_second;
    struct call_times *times = take(list, function, ns_per_tick);
    double longest = (double)record->longest * ns_per_tick;

    times->calls += record->count;
    times->ns += (double)record->ticks * ns_per_tick;
    for (uint32_t i = 0; i < TIME_BUCKETS; i++)
        if (record->buckets[i])
            times->buckets[bucket_of(times, i, ns_per_tick)] += record->buckets[i];
    if (!record->count || longest < times->longest_ns)
        return;
    times->longest_ns = longest;
    times->longest_at_ns = record->longest_ended > header->start_ticks
                               ? (double)(record->longest_ended - header->start_ticks) * ns_per_tick
                               : 0;
}

const struct call_times *call_times_of(const struct call_times_list *list, uint32_t function)
{
    size_t place = place_of(list, function);

    return place < list->count && list->items[place].function == function ? &list->items[place]
                                                                          : NULL;
}

void call_times_free(struct call_times_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].buckets);
    free(list->items);
    *list = (struct call_times_list){0};
}

uint64_t call_times_quantile_ns(const struct call_times *times, double share)
{
    double wanted = share * (double)times->calls, ns;
    uint64_t calls = 0;
    uint32_t bucket = 0;

    for (; bucket < TIME_BUCKETS - 1; bucket++) {
        calls += times->buckets[bucket];
        if (calls && (double)calls >= wanted)
            break;
    }
    ns = middle_of(bucket) * times->ns_per_tick;
    return (uint64_t)(ns < times->longest_ns ? ns : times->longest_ns);
}

uint64_t call_times_mean_ns(const struct call_times *times)
{
    return times->calls ? (uint64_t)(times->ns / (double)times->calls) : 0;
}

static int compare_slowness(const void *left, const void *right)
{
    const struct call_times *a = *(const struct call_times *const *)left;
    const struct call_times *b = *(const struct call_times *const *)right;
    uint64_t of_a = call_times_quantile_ns(a, SLOW), of_b = call_times_quantile_ns(b, SLOW);

    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    return (a->longest_ns < b->longest_ns) - (a->longest_ns > b->longest_ns);
}

const struct call_times **call_times_slowest(const struct call_times_list *list)
{
    const struct call_times **slowest = memory_zeroed(list->count + 1, sizeof(*slowest));

    for (size_t i = 0; i < list->count; i++)
        slowest[i] = &list->items[i];
    qsort(slowest, list->count, sizeof(*slowest), compare_slowness);
    return slowest;
}
