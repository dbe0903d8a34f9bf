#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "service/base/tick_clock.h"

#include <cmocka.h>

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void test_longer_measurement_agrees_with_the_quick_one(void **state)
{
    struct tick_clock clock;

    (void)state;
    tick_clock_open(&clock);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    assert_true(clock.quick > 100000000);
    assert_true(distance(tick_clock_frequency(&clock), clock.quick) < clock.quick / 1000);
}

static void test_absurd_figure_is_not_believed(void **state)
{
    struct tick_clock clock;

    (void)state;
    tick_clock_open(&clock);
    clock.first_ticks += clock.quick; /* as if the counter had stood still for a second */
    assert_int_equal(tick_clock_frequency(&clock), clock.quick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longer_measurement_agrees_with_the_quick_one),
        cmocka_unit_test(test_absurd_figure_is_not_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
