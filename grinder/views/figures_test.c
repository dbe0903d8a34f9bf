#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/sample_range.h"
#include "grinder/views/figures.h"

#include <cmocka.h>

static char text[FIGURE_ROOM];

static struct figure ranged(double value, double low, double high)
{
    return (struct figure){value, low, high};
}

static void exact_times_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    assert_string_equal(figure_time(text, figure_exact(0)), "0 ns");
    assert_string_equal(figure_time(text, figure_exact(0.4123)), "0.412 ns");
    assert_string_equal(figure_time(text, figure_exact(7)), "7.00 ns");
    assert_string_equal(figure_time(text, figure_exact(999)), "999 ns");
    assert_string_equal(figure_time(text, figure_exact(1000)), "1.00 us");
    assert_string_equal(figure_time(text, figure_exact(51671)), "51.7 us");
    assert_string_equal(figure_time(text, figure_exact(122938962)), "123 ms");
    assert_string_equal(figure_time(text, figure_exact(1096732000)), "1.10 s");
    assert_string_equal(figure_time(text, figure_exact(86400e9)), "86400 s");
}

static void what_is_rounded_up_to_the_next_unit_has_that_unit(void **state)
{
    (void)state;
    assert_string_equal(figure_time(text, figure_exact(999.4)), "999 ns");
    assert_string_equal(figure_time(text, figure_exact(999.6)), "1.00 us");
    assert_string_equal(figure_time(text, figure_exact(999999999)), "1.00 s");
    assert_string_equal(figure_count(text, 999999), "999,999");
    assert_string_equal(figure_count(text, 999999999), "1.00 G");
}

static void digits_that_the_range_leaves_open_are_not_shown(void **state)
{
    (void)state;
    assert_string_equal(figure_time(text, ranged(122.9e6, 116.3e6, 130.1e6)), "123 ms");
    assert_string_equal(figure_time(text, ranged(122.9e6, 103.5e6, 146.0e6)), "120 ms");
    assert_string_equal(figure_time(text, ranged(1234e6, 1200e6, 1270e6)), "1.23 s");
    assert_string_equal(figure_time(text, ranged(1234e6, 1000e6, 1500e6)), "1.2 s");
    assert_string_equal(figure_time(text, ranged(1e6, 0.2e6, 5.6e6)), "1 ms");
    assert_string_equal(figure_time(text, ranged(1e6, 0.2e6, 50e6)), "1 ms");
    assert_string_equal(figure_share(text, ranged(26.28, 25.9, 26.6)), "26.3%");
    assert_string_equal(figure_share(text, ranged(26.28, 22.4, 30.5)), "26%");
    assert_string_equal(figure_share(text, ranged(0.46, 0.12, 1.7)), "0.5%");
}

/* 100 of 1000 samples are 83 to 120; one is 0.2 to 6; none is less than 4. */
static void ranges_are_those_of_the_tables(void **state)
{
    struct sample_range range = sample_range(100000000, 100, 1000000000, 1000);

    (void)state;
    assert_string_equal(
        figure_time(text, ranged(100e6, (double)range.low_ns, (double)range.high_ns)), "100 ms");
    range = sample_range(94000000, 94, 1000000000, 1000);
    assert_string_equal(
        figure_time(text, ranged(94e6, (double)range.low_ns, (double)range.high_ns)), "94 ms");
    range = sample_range(17000000, 17, 113000000, 113);
    assert_string_equal(
        figure_time(text, ranged(17e6, (double)range.low_ns, (double)range.high_ns)), "17 ms");
    range = sample_range(3400000, 3, 113000000, 113);
    assert_string_equal(
        figure_time(text, ranged(3.4e6, (double)range.low_ns, (double)range.high_ns)), "3 ms");
    range = sample_range(0, 0, 1000000000, 1000);
    assert_string_equal(figure_time_below(text, (double)range.high_ns), "< 3.9 ms");
}

static void bounds_are_rounded_up(void **state)
{
    (void)state;
    assert_string_equal(figure_time_below(text, 3.81e6), "< 3.9 ms");
    assert_string_equal(figure_time_below(text, 3.8e6), "< 3.8 ms");
    assert_string_equal(figure_time_below(text, 9.91e6), "< 10 ms");
    assert_string_equal(figure_time_below(text, 996e3), "< 1.0 ms");
    assert_string_equal(figure_time_below(text, 0), "-");
    assert_string_equal(figure_share_below(text, 0.381), "<0.39%");
    assert_string_equal(figure_share_below(text, 12.1), "<13%");
    assert_string_equal(figure_share_below(text, 0.0001), "<0.01%");
    assert_string_equal(figure_share_below(text, 0), "-");
}

static void shares_have_two_decimals_at_most(void **state)
{
    (void)state;
    assert_string_equal(figure_share(text, figure_exact(0)), "0%");
    assert_string_equal(figure_share(text, figure_exact(0.0001)), "<0.01%");
    assert_string_equal(figure_share(text, figure_exact(0.0123)), "0.01%");
    assert_string_equal(figure_share(text, figure_exact(5.555)), "5.56%");
    assert_string_equal(figure_share(text, figure_exact(99.96)), "100%");
    assert_string_equal(figure_share(text, figure_exact(100)), "100%");
}

static void counts_have_commas_or_a_letter(void **state)
{
    (void)state;
    assert_string_equal(figure_count(text, 0), "0");
    assert_string_equal(figure_count(text, 999), "999");
    assert_string_equal(figure_count(text, 1234), "1,234");
    assert_string_equal(figure_count(text, 100007), "100,007");
    assert_string_equal(figure_count(text, 1000000), "1.00 M");
    assert_string_equal(figure_count(text, 12345678), "12.3 M");
    assert_string_equal(figure_count(text, 175108145), "175 M");
    assert_string_equal(figure_count(text, UINT64_MAX), "18.4 E");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_times_have_three_digits_and_a_unit),
        cmocka_unit_test(what_is_rounded_up_to_the_next_unit_has_that_unit),
        cmocka_unit_test(digits_that_the_range_leaves_open_are_not_shown),
        cmocka_unit_test(ranges_are_those_of_the_tables),
        cmocka_unit_test(bounds_are_rounded_up),
        cmocka_unit_test(shares_have_two_decimals_at_most),
        cmocka_unit_test(counts_have_commas_or_a_letter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
