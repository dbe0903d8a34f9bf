/* The place of each number, among few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "support/sorted.h"

#include <cmocka.h>

static const int numbers[] = {1, 3, 3, 3, 5, 9};

static size_t not_below(size_t count, int number)
{
    return partition_point(i, count, numbers[i] < number);
}

static size_t above(size_t count, int number)
{
    return partition_point(i, count, numbers[i] <= number);
}

static void the_first_that_is_not_in_front_is_found(void **state)
{
    (void)state;
    for (size_t count = 0; count <= sizeof(numbers) / sizeof(*numbers); count++) {
        for (int number = 0; number <= 10; number++) {
            size_t first = 0, behind = 0;

            while (first < count && numbers[first] < number)
                first++;
            while (behind < count && numbers[behind] <= number)
                behind++;
            assert_int_equal(not_below(count, number), first);
            assert_int_equal(above(count, number), behind);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_is_not_in_front_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
