#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/sample_range.h"

#include <cmocka.h>

static void expect(uint64_t samples, uint64_t low, uint64_t high)
{
    struct sample_range range = sample_range(samples, samples, 1000, 1000);

    assert_int_equal(range.low_ns, low);
    assert_int_equal(range.high_ns, high);
}

static void test_as_drawn(void **state)
{
    (void)state;
    expect(0, 0, 4);
    expect(1, 0, 6);
    expect(10, 5, 18);
    expect(100, 83, 120);
    expect(500, 469, 531);
    expect(1000, 996, 1000);
}

static void test_unequal_samples(void **state)
{
    struct sample_range range = sample_range(900, 1, 1000, 10);

    (void)state;
    assert_int_equal(range.low_ns, 182);
    assert_int_equal(range.high_ns, 997);
    range = sample_range(40, 10, 1000, 900); /* as of 250 */
    assert_int_equal(range.low_ns, 22);
    assert_int_equal(range.high_ns, 72);
}

static void test_no_samples(void **state)
{
    struct sample_range range = sample_range(0, 0, 0, 0);

    (void)state;
    assert_int_equal(range.high_ns, 0);
    range = sample_range(7, 0, 100, 0);
    assert_int_equal(range.low_ns, 0);
    assert_int_equal(range.high_ns, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_drawn),
        cmocka_unit_test(test_unequal_samples),
        cmocka_unit_test(test_no_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
