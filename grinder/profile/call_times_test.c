#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/call_times.h"
#include "trace/time_buckets.h"

#include <cmocka.h>

static const struct trace_header header = {.ticks_per_second = 2000000000, .start_ticks = 1000};

/* Each duration is in the bucket that begins at it or below, by a sixteenth at most. */
static void buckets_are_narrow(void **state)
{
    uint32_t before = 0;

    (void)state;
    for (uint32_t bucket = 1; bucket < TIME_BUCKETS; bucket++)
        assert_true(time_bucket_least(bucket) > time_bucket_least(bucket - 1));
    for (uint64_t ticks = 0; ticks < 1ull << 47; ticks += 1 + ticks / 97) {
        uint32_t bucket = time_bucket(ticks);
        uint64_t least = time_bucket_least(bucket), next = time_bucket_least(bucket + 1);

        assert_true(bucket >= before && least <= ticks && ticks < next);
        assert_true(next - least <= 1 || (next - least) * TIME_BUCKETS_IN_POWER <= least);
        before = bucket;
    }
    assert_int_equal(time_bucket(UINT64_MAX), TIME_BUCKETS - 1);
}

static void add(struct call_times_list *list, uint32_t function, const uint64_t *ticks,
                size_t count, const struct trace_header *of)
{
    struct trace_times record = {.node = 1, .function = 1};

    for (size_t i = 0; i < count; i++) {
        record.count++;
        record.ticks += ticks[i];
        record.buckets[time_bucket(ticks[i])]++;
        if (ticks[i] < record.longest)
            continue;
        record.longest = ticks[i];
        record.longest_ended = 1000 + 2000000 * i;
    }
    call_times_add(list, function, &record, of);
}

static void assert_near(uint64_t found, double expected)
{
    assert_true((double)found > expected * 15 / 16 - 1 && (double)found < expected * 17 / 16 + 1);
}

static void quantiles_are_those_of_all_calls(void **state)
{
    struct call_times_list list = {0};
    const struct call_times *times;
    uint64_t ticks[1000];

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        ticks[i] = 100 * (i + 1); /* 50 ns to 50 us */
    add(&list, 9, ticks, 100, &header);
    add(&list, 4, ticks, 1000, &header);
    add(&list, 9, ticks + 100, 900, &header); /* of another context, or thread */
    for (uint32_t function = 4; function <= 9; function += 5) {
        times = call_times_of(&list, function);
        assert_int_equal(times->calls, 1000);
        assert_near(call_times_quantile_ns(times, 0.5), 25000);
        assert_near(call_times_quantile_ns(times, 0.9), 45000);
        assert_near(call_times_quantile_ns(times, 0.99), 49500);
        assert_near(call_times_quantile_ns(times, 0), 50);
        assert_near(call_times_quantile_ns(times, 1), 50000);
        assert_true(call_times_quantile_ns(times, 1) <= 50000);
        assert_int_equal(times->longest_ns, 50000);
    }
    assert_int_equal(call_times_of(&list, 4)->longest_at_ns, 999000000);
    assert_null(call_times_of(&list, 5));
    call_times_free(&list);
}

/* Their buckets are in ticks of that clock. */
static void another_clock_is_converted(void **state)
{
    const struct trace_header slow = {.ticks_per_second = 500000000};
    const uint64_t ticks[] = {4000, 4000, 4000};
    struct call_times_list list = {0};

    (void)state;
    add(&list, 1, ticks, 1, &header);
    add(&list, 1, ticks, 3, &slow);
    assert_near(call_times_quantile_ns(call_times_of(&list, 1), 0.2), 2000);
    assert_near(call_times_quantile_ns(call_times_of(&list, 1), 0.9), 8000);
    assert_int_equal(call_times_of(&list, 1)->longest_ns, 8000);
    call_times_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_narrow),
        cmocka_unit_test(quantiles_are_those_of_all_calls),
        cmocka_unit_test(another_clock_is_converted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
