#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "service/attach/overhead.h"

#include <cmocka.h>

#define COUNT 4

/* A look a second, at a program that takes one second of processor time in it. */
struct run {
    struct overhead overhead;
    struct overhead_changes changes;
    uint64_t calls[COUNT];
    int64_t now_ms;
};

static void look(struct run *run)
{
    overhead_changes_free(&run->changes);
    run->now_ms += 1000;
    assert_true(overhead_look(&run->overhead, run->calls, COUNT, (uint64_t)run->now_ms * 1000000,
                              run->now_ms, &run->changes));
}

static void begin(struct run *run, double percent)
{
    *run = (struct run){0};
    overhead_begin(&run->overhead, percent, 0);
    run->overhead.ns_a_call = 10;
}

static void end(struct run *run)
{
    overhead_changes_free(&run->changes);
    overhead_free(&run->overhead);
}

static void the_hottest_go(void **state)
{
    struct run run;

    (void)state;
    begin(&run, 5);
    run.calls[1] += 10000000; /* 100 ms of 1,000 */
    run.calls[2] += 1000000;  /* 10 */
    run.calls[3] += 3000000;  /* 30 */
    look(&run);
    assert_in_range((long)run.changes.percent, 15, 17);
    assert_int_equal(run.changes.out_count, 2); /* 10 of 43 may stay, and 40 not */
    assert_int_equal(run.changes.out[0], 1);
    assert_int_equal(run.changes.out[1], 3);
    assert_int_equal(run.changes.in_count, 0);
    end(&run);
}

static void what_costs_little_stays(void **state)
{
    struct run run;

    (void)state;
    begin(&run, 5);
    run.calls[1] += 4000000;
    look(&run);
    assert_int_equal(run.changes.out_count, 0);
    end(&run);
}

/* 10 s, then 20. */
static void they_come_back_and_stay_out_longer(void **state)
{
    struct run run;

    (void)state;
    begin(&run, 5);
    for (int turn = 1; turn <= 2; turn++) {
        run.calls[1] += 10000000;
        look(&run);
        assert_int_equal(run.changes.out_count, 1);
        for (int i = 1; i < 10 * turn; i++) {
            look(&run);
            assert_int_equal(run.changes.out_count + run.changes.in_count, 0);
        }
        look(&run);
        assert_int_equal(run.changes.in_count, 1);
        assert_int_equal(run.changes.in[0], 1);
    }
    end(&run);
}

/* Time that the process took before it was attached to is not beside its hooks. */
static void what_was_before_is_not_judged(void **state)
{
    struct run run = {.now_ms = 1000000};

    (void)state;
    overhead_begin(&run.overhead, 5, 1000000 * 1000000ull);
    run.overhead.ns_a_call = 10;
    run.calls[1] += 10000000;
    look(&run);
    assert_in_range((long)run.changes.percent, 10, 12);
    assert_int_equal(run.changes.out_count, 1);
    end(&run);
}

/* More than the process has taken, by an estimate that is too high. */
static void what_cannot_be_is_bounded(void **state)
{
    struct run run;

    (void)state;
    begin(&run, 100);
    run.calls[1] += 1000000000; /* 10 s in one */
    look(&run);
    assert_int_equal(run.changes.out_count, 1);
    assert_true(run.changes.percent > 100);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hottest_go),
        cmocka_unit_test(what_costs_little_stays),
        cmocka_unit_test(they_come_back_and_stay_out_longer),
        cmocka_unit_test(what_was_before_is_not_judged),
        cmocka_unit_test(what_cannot_be_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
