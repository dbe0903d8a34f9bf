/* Smallest sets are found, with few trials. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "support/narrowing.h"

#include <cmocka.h>

#define THINGS 1000

struct culprits {
    const uint64_t *things;
    size_t count, trials;
};

static bool has(const uint64_t *things, size_t count, uint64_t thing)
{
    for (size_t i = 0; i < count; i++)
        if (things[i] == thing)
            return true;
    return false;
}

static bool fails(void *owner, const uint64_t *things, size_t count)
{
    struct culprits *culprits = owner;

    culprits->trials++;
    for (size_t i = 1; i < count; i++)
        assert_true(things[i - 1] < things[i]);
    for (size_t i = 0; i < culprits->count; i++)
        if (!has(things, count, culprits->things[i]))
            return false;
    return true;
}

/* Returns how many are found; all are, unless there are more than `most`. */
static size_t found(const uint64_t *things, size_t count, size_t most, size_t trials)
{
    struct culprits culprits = {things, count, 0};
    struct narrowing narrowing = {.fails = fails, .owner = &culprits, .most = most};
    uint64_t suspects[THINGS];

    for (size_t i = 0; i < THINGS; i++)
        suspects[i] = 7 * i;
    narrow(&narrowing, suspects, THINGS);
    for (size_t i = 0; i < narrowing.needed_count; i++)
        assert_true(has(things, count, narrowing.needed[i]));
    assert_in_range(culprits.trials, 1, trials);
    free(narrowing.needed);
    return narrowing.needed_count;
}

static void one_of_many(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < THINGS; i++)
        assert_int_equal(found((uint64_t[]){7 * i}, 1, 0, 20), 1);
}

static void some_together(void **state)
{
    (void)state;
    assert_int_equal(found((uint64_t[]){0, 6993}, 2, 0, 40), 2);
    assert_int_equal(found((uint64_t[]){0, 7}, 2, 2, 40), 2);
    assert_int_equal(found((uint64_t[]){21, 28, 35, 700, 6986}, 5, 8, 100), 5);
}

static void too_many(void **state)
{
    (void)state;
    assert_int_equal(found((uint64_t[]){21, 28, 35, 700, 6986}, 5, 3, 80), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_many),
        cmocka_unit_test(some_together),
        cmocka_unit_test(too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
