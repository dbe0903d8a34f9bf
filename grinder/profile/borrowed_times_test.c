#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/borrowed_times.h"

#include <cmocka.h>

enum { ROOT, OUTER, OFTEN, SELDOM, NEVER };

/* Two recordings of one program: what was counted in the one, and sampled in the other. */
struct recordings {
    struct profile counts, times;
    struct part counted, sampled;
    struct process process;
    struct thread_facts threads[2];
};

static void count(struct recordings *pair, uint32_t function, uint64_t calls)
{
    struct costs *costs = cost_table_at(&pair->counted.functions, function, 0);

    costs->calls = costs->total_calls = calls;
    costs->self_ns = 77; /* with hooks */
    costs->total_ns = 770;
    costs->measuring_ns = 7;
    costs->samples = 3;
    costs->wait.self_ns = 11;
    pair->counted.calls += calls;
}

static void sample(struct recordings *pair, uint32_t function, uint64_t samples)
{
    struct costs *costs = cost_table_at(&pair->sampled.functions, function, 0);

    costs->samples = costs->total_samples = costs->calls = samples;
    costs->self_ns = costs->total_ns = samples * 1000;
    pair->sampled.samples += samples;
    pair->sampled.ns += samples * 1000;
}

static int make(void **state)
{
    struct recordings *pair = calloc(1, sizeof(*pair));

    if (!pair)
        return -1;
    pair->counts = (struct profile){.parts = &pair->counted,
                                    .part_count = 1,
                                    .clocked = "counts",
                                    .untimed = "counts",
                                    .hooked = "counts"};
    pair->times = (struct profile){
        .parts = &pair->sampled, .part_count = 1, .processes = &pair->process, .process_count = 1};
    pair->process = (struct process){.threads = pair->threads, .thread_count = 2};
    pair->counted.ns = 7777;
    pair->counted.measuring_ns = 777;
    count(pair, OUTER, 1);
    count(pair, OFTEN, 100);
    count(pair, SELDOM, 10);
    *state = pair;
    return 0;
}

static void table_free(struct cost_table *table)
{
    pair_index_free(&table->keys);
    free(table->costs);
}

static int clean(void **state)
{
    struct recordings *pair = *state;

    table_free(&pair->counted.functions);
    table_free(&pair->counted.edges);
    table_free(&pair->sampled.functions);
    table_free(&pair->sampled.edges);
    free(pair);
    return 0;
}

static void calls_are_its_own_and_times_the_others(void **state)
{
    struct recordings *pair = *state;
    const struct costs *costs;

    sample(pair, OFTEN, 60);
    sample(pair, OUTER, 20);
    pair->threads[0].timed = 50;
    pair->threads[1].timed = 30;
    times_borrow(&pair->counts, &pair->times, "times");

    costs = cost_table_at(&pair->counted.functions, OFTEN, 0);
    assert_int_equal(costs->calls, 100);
    assert_int_equal(costs->self_ns, 60000);
    assert_int_equal(costs->samples, 60);
    assert_int_equal(costs->measuring_ns, 0);
    assert_int_equal(costs->wait.self_ns, 11);
    costs = cost_table_at(&pair->counted.functions, SELDOM, 0); /* called, and never met */
    assert_int_equal(costs->calls, 10);
    assert_int_equal(costs->self_ns + costs->total_ns + costs->samples + costs->total_samples, 0);
    assert_int_equal(pair->counted.calls, 111);
    assert_int_equal(pair->counted.ns, 80000);
    assert_int_equal(pair->counted.samples, 80);
    assert_int_equal(pair->counted.measuring_ns, 0);
    assert_true(profile_is_sampled(&pair->counts));
    assert_true(profile_has_times(&pair->counts));
    assert_false(profile_is_stacked(&pair->counts));
    assert_int_equal(pair->counts.borrowed.samples, 80);
    assert_int_equal(pair->counts.borrowed.outside + pair->counts.borrowed.uncounted, 0);
}

/* A site of the one that the other has not, and the other way round. */
static void edges_are_borrowed_as_well(void **state)
{
    struct recordings *pair = *state;
    uint64_t edge = (uint64_t)OUTER << 32 | OFTEN;

    cost_table_at(&pair->counted.edges, edge, 0x10)->calls = 100;
    cost_table_at(&pair->counted.edges, edge, 0x10)->total_ns = 9;
    cost_table_at(&pair->counted.edges, edge, 0x20)->calls = 5;
    cost_table_at(&pair->counted.edges, edge, 0x20)->total_ns = 9;
    cost_table_at(&pair->sampled.edges, edge, 0x10)->total_ns = 4000;
    cost_table_at(&pair->sampled.edges, edge, 0x10)->calls = 4;
    cost_table_at(&pair->sampled.edges, edge, 0x30)->total_ns = 1000;
    times_borrow(&pair->counts, &pair->times, "times");

    assert_int_equal(pair->counted.edges.keys.count, 3);
    assert_int_equal(cost_table_at(&pair->counted.edges, edge, 0x10)->calls, 100);
    assert_int_equal(cost_table_at(&pair->counted.edges, edge, 0x10)->total_ns, 4000);
    assert_int_equal(cost_table_at(&pair->counted.edges, edge, 0x20)->calls, 5);
    assert_int_equal(cost_table_at(&pair->counted.edges, edge, 0x20)->total_ns, 0);
    assert_int_equal(cost_table_at(&pair->counted.edges, edge, 0x30)->calls, 0);
    assert_int_equal(cost_table_at(&pair->counted.edges, edge, 0x30)->total_ns, 1000);
}

/* NEVER was not called where calls were counted; 5 samples were below no function at all. */
static void what_does_not_fit_is_told(void **state)
{
    struct recordings *pair = *state;

    sample(pair, OFTEN, 60);
    sample(pair, NEVER, 15);
    sample(pair, NEVER + 1, 2);
    sample(pair, ROOT, 5);
    pair->sampled.samples -= 5; /* of a root nothing is summed */
    pair->threads[1].timed = 82;
    times_borrow(&pair->counts, &pair->times, "times");

    assert_string_equal(pair->counts.borrowed.path, "times");
    assert_int_equal(pair->counts.borrowed.samples, 82);
    assert_int_equal(pair->counts.borrowed.outside, 5);
    assert_int_equal(pair->counts.borrowed.uncounted, 17);
    assert_int_equal(pair->counts.borrowed.function, NEVER);
}

static void recordings_may_be_empty(void **state)
{
    struct recordings *pair = *state;

    pair->times.part_count = pair->times.process_count = 0;
    times_borrow(&pair->counts, &pair->times, "times");
    assert_int_equal(pair->counted.ns + pair->counted.samples, 0);
    assert_int_equal(cost_table_at(&pair->counted.functions, OFTEN, 0)->calls, 100);
    assert_int_equal(cost_table_at(&pair->counted.functions, OFTEN, 0)->self_ns, 0);

    pair->counts.part_count = 0;
    pair->times.process_count = 1;
    pair->threads[0].timed = 9;
    times_borrow(&pair->counts, &pair->times, "times");
    assert_int_equal(pair->counts.borrowed.samples, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_are_its_own_and_times_the_others, make, clean),
        cmocka_unit_test_setup_teardown(edges_are_borrowed_as_well, make, clean),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_told, make, clean),
        cmocka_unit_test_setup_teardown(recordings_may_be_empty, make, clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
