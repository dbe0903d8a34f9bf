#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "service/recorder/cost_table.h"

#include <cmocka.h>

#define AGENT 0x1234567890ull

static struct costs costs_of(uint32_t timed)
{
    return (struct costs){{timed / 2, timed, timed / 4, timed / 8}};
}

static void add(struct cost_table *table, uint64_t agent, int64_t at_ms, uint32_t timed)
{
    const struct costs costs = costs_of(timed);

    cost_table_add(table, agent, at_ms, &costs);
}

static uint32_t timed_at(const struct cost_table *table, uint64_t agent, int64_t now_ms)
{
    struct costs costs;

    return cost_table_find(table, agent, now_ms, &costs) ? costs.of[COST_TIMED] : 0;
}

static void test_gives_the_median_of_the_last_ones(void **state)
{
    struct cost_table table = {0};

    (void)state;
    assert_int_equal(timed_at(&table, AGENT, 0), 0);
    for (uint32_t i = 0; i < 4; i++)
        add(&table, AGENT, i, 1000 + i);
    add(&table, AGENT, 4, 9000); /* disturbed */
    assert_int_equal(timed_at(&table, AGENT, 5), 1002);
    for (uint32_t i = 0; i < COST_TABLE_LAST; i++)
        add(&table, AGENT, 6 + i, 2000 + i);
    assert_int_equal(timed_at(&table, AGENT, 20), 2000 + COST_TABLE_LAST / 2);
}

static void test_another_agent_has_costs_of_its_own(void **state)
{
    struct cost_table table = {0};

    (void)state;
    add(&table, AGENT, 0, 1000);
    add(&table, AGENT + 1, 0, 3000);
    assert_int_equal(timed_at(&table, AGENT, 0), 1000);
    assert_int_equal(timed_at(&table, AGENT + 1, 0), 3000);
    assert_int_equal(timed_at(&table, AGENT + 2, 0), 0);
    for (uint64_t i = 1; i <= COST_TABLE_AGENTS; i++)
        add(&table, AGENT + i, (int64_t)i, 4000);
    assert_int_equal(timed_at(&table, AGENT, 0), 0);
    assert_int_equal(timed_at(&table, AGENT + 2, 0), 4000);
}

static void test_grows_old(void **state)
{
    struct cost_table table = {0};

    (void)state;
    for (uint32_t i = 0; i < COST_TABLE_LAST; i++) {
        assert_false(cost_table_is_fresh(&table, AGENT, 0));
        add(&table, AGENT, 0, 1000);
    }
    assert_true(cost_table_is_fresh(&table, AGENT, COST_TABLE_FRESH_MS - 1));
    assert_false(cost_table_is_fresh(&table, AGENT, COST_TABLE_FRESH_MS));
    assert_int_equal(timed_at(&table, AGENT, COST_TABLE_FRESH_MS), 1000);
    assert_int_equal(timed_at(&table, AGENT, COST_TABLE_KEPT_MS), 0);
}

static void test_what_cannot_be_is_dropped(void **state)
{
    struct cost_table table = {0};

    (void)state;
    add(&table, AGENT, 0, 0);
    add(&table, AGENT, 0, UINT32_MAX);
    add(&table, 0, 0, 1000);
    assert_int_equal(timed_at(&table, AGENT, 0), 0);
    assert_int_equal(timed_at(&table, 0, 0), 0);
    assert_false(cost_table_is_fresh(&table, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gives_the_median_of_the_last_ones),
        cmocka_unit_test(test_another_agent_has_costs_of_its_own),
        cmocka_unit_test(test_grows_old),
        cmocka_unit_test(test_what_cannot_be_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
