#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/self_time.h"

#include <cmocka.h>

#define PERIOD      500e3
#define UNCERTAINTY 15

static double mean(double timed_ns, double events, double sampled_ns)
{
    return self_time_mean((struct timed_self){timed_ns, events}, sampled_ns, PERIOD, UNCERTAINTY);
}

static void expect_near(double found, double expected, double off)
{
    if (fabs(found - expected) > off)
        fail_msg("expected %g +- %g, found %g", expected, off, found);
}

/* 100 million calls of 5 ns: 1.5 s of uncertainty against 17 ms. */
static void short_calls_are_sampled(void **state)
{
    (void)state;
    expect_near(mean(1.2e9, 1e8, 0.5e9), 0.5e9, 0.001e9);
    expect_near(mean(0, 1e8, 0.5e9), 0.5e9, 0.001e9);
}

static void long_calls_are_timed(void **state)
{
    (void)state;
    expect_near(mean(1.02e9, 1e3, 1e9), 1.02e9, 0.001e9);
}

static void in_between_both_count(void **state)
{
    double events = 0.02e9 / UNCERTAINTY, found = mean(1.02e9, events, 1e9);

    (void)state;
    assert_true(found > 1.005e9 && found < 1.017e9);
}

/* 10 s in read(), a million short calls beside them. */
static void waits_are_timed(void **state)
{
    (void)state;
    expect_near(mean(10.02e9, 1e6, 0.01e9), 10e9, 0.05e9);
    expect_near(mean(10e9, 1, 0), 10e9, 0.01e9);
}

static void neither_is_nothing(void **state)
{
    (void)state;
    assert_true(mean(0, 0, 0) == 0);
    assert_true(mean(0, 5, 0) == 0);
}

static void it_grows_with_what_was_timed(void **state)
{
    double before = 0;

    (void)state;
    for (double timed = 0; timed < 1e9; timed += 1e6) {
        double found = mean(timed, 1e6, 0.1e9);
        assert_true(found > before);
        before = found;
    }
}

/* 1 is timed in two contexts, 2 in one that nothing is left of. */
static void contexts_share_what_is_believed(void **state)
{
    struct function_samples functions[] = {{1, 1000}, {2, 200}};
    const struct thread_samples samples = {
        .functions = functions, .count = 2, .in_functions = 1200, .period_ns = PERIOD};
    const struct timed_self contexts[] = {{600e6, 50e6}, {100e6, 50e6}, {-5e6, 10e6}};
    struct self_times *times = self_times_begin(&samples, 3, UNCERTAINTY);
    double first, second;

    (void)state;
    self_times_note(times, 1, contexts[0]);
    self_times_note(times, 1, contexts[1]);
    self_times_note(times, 2, contexts[2]);
    first = self_times_estimate(times, 1, contexts[0]);
    second = self_times_estimate(times, 1, contexts[1]);
    expect_near(first + second, 500e6, 1e6);
    expect_near(first / second, 650.0 / 150, 1e-9);
    expect_near(self_times_estimate(times, 2, contexts[2]), 100e6, 5e6);
    self_times_free(times);
}

static void without_samples_there_is_nothing_to_believe(void **state)
{
    const struct thread_samples none = {0};

    (void)state;
    assert_null(self_times_begin(&none, 3, UNCERTAINTY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_calls_are_sampled),
        cmocka_unit_test(long_calls_are_timed),
        cmocka_unit_test(in_between_both_count),
        cmocka_unit_test(waits_are_timed),
        cmocka_unit_test(neither_is_nothing),
        cmocka_unit_test(it_grows_with_what_was_timed),
        cmocka_unit_test(contexts_share_what_is_believed),
        cmocka_unit_test(without_samples_there_is_nothing_to_believe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
