#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/code_ranges.h"

#include <cmocka.h>

#define SPACE 64
#define FAR   0x7f0000000000u

/* Against an array that has each address's module, for ranges of all sizes and places. */
static void the_later_one_counts(void **state)
{
    (void)state;
    srandom(7);
    for (int round = 0; round < 300; round++) {
        struct code_ranges ranges = {0};
        uint32_t model[SPACE] = {0};
        for (uint32_t module = 1; module <= 20; module++) {
            uint64_t begin = (uint64_t)random() % SPACE, length = (uint64_t)random() % SPACE;
            if (length > SPACE - begin)
                length = SPACE - begin;
            code_ranges_put(&ranges, FAR + begin, length, module);
            for (uint64_t i = begin; i < begin + length; i++)
                model[i] = module;
            for (uint64_t i = 0; i < SPACE; i++)
                assert_int_equal(code_ranges_find(&ranges, FAR + i), model[i]);
            assert_int_equal(code_ranges_find(&ranges, FAR - 1), 0);
            assert_int_equal(code_ranges_find(&ranges, FAR + SPACE), 0);
            for (size_t i = 1; i < ranges.count; i++)
                assert_true(ranges.items[i - 1].end <= ranges.items[i].begin);
        }
        code_ranges_free(&ranges);
    }
}

static void what_reaches_too_far_ends_with_memory(void **state)
{
    struct code_ranges ranges = {0};

    (void)state;
    code_ranges_put(&ranges, UINT64_MAX - 10, 100, 1);
    code_ranges_put(&ranges, 5, UINT64_MAX, 2);
    code_ranges_put(&ranges, 7, 0, 3);
    assert_int_equal(code_ranges_find(&ranges, 4), 0);
    assert_int_equal(code_ranges_find(&ranges, 7), 2);
    assert_int_equal(code_ranges_find(&ranges, UINT64_MAX - 5), 2);
    assert_int_equal(ranges.count, 1);
    code_ranges_free(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_later_one_counts),
        cmocka_unit_test(what_reaches_too_far_ends_with_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
