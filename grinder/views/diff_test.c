#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/views/diff.h"

#include <cmocka.h>

#define SAMPLE 1000000 /* ns */

static struct costs sampled(uint64_t calls, uint64_t samples)
{
    return (struct costs){.calls = calls, .self_ns = samples * SAMPLE, .samples = samples};
}

static void expect_noise(uint64_t before, uint64_t after, bool is_noise)
{
    const struct diff diff = {.is_sampled = true};
    const struct costs costs[SIDES] = {sampled(1, before), sampled(1, after)};
    uint64_t distance = (after > before ? after - before : before - after) * SAMPLE;

    assert_int_equal(distance <= diff_noise(&diff, costs), is_noise);
}

static void samples_differ_by_chance(void **state)
{
    (void)state;
    expect_noise(0, 4, true);
    expect_noise(0, 5, false);
    expect_noise(34, 20, true);
    expect_noise(20, 36, false);
    expect_noise(100, 128, true);
    expect_noise(132, 100, false);
    expect_noise(0, 0, true);
}

static void times_that_are_measured_do_not(void **state)
{
    const struct diff diff = {.is_sampled = false};
    const struct costs costs[SIDES] = {sampled(1, 20), sampled(1, 21)};

    (void)state;
    assert_int_equal(diff_noise(&diff, costs), 0);
}

/* The rows of a diff of these changes, with its sums left out. */
static char *table_of(struct change *changes, size_t count, const char *counts)
{
    struct function functions[] = {{.name = "first"}, {.name = "second"}, {.name = "third"}};
    const struct images images = {.functions = functions};
    const struct part parts[SIDES] = {{.ns = 100 * SAMPLE}, {.ns = 100 * SAMPLE}};
    struct diff diff = {
        .images = &images,
        .parts = {&parts[BEFORE], &parts[AFTER]},
        .changes = changes,
        .count = count,
        .weight = WEIGHT_NS,
        .has_times = true,
        .is_sampled = true,
        .counts = counts,
    };
    char *text = NULL, *rows;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    for (size_t i = 0; i < count; i++) {
        changes[i].function = (uint32_t)i;
        changes[i].noise_ns = diff_noise(&diff, changes[i].costs);
    }
    diff_format_named("table", true)->write(stream, &diff, 10);
    fclose(stream);
    *strstr(text, "(all)") = 0;
    *(strrchr(text, '\n') + 1) = 0;
    rows = strdup(strchr(text, '\n') + 1);
    free(text);
    return rows;
}

static void what_changed_by_chance_is_counted_alone(void **state)
{
    struct change changes[] = {
        {.costs = {sampled(10, 20), sampled(10, 60)}},
        {.costs = {sampled(10, 20), sampled(10, 24)}},
        {.costs = {sampled(10, 9), sampled(11, 8)}},
    };
    char *rows = table_of(changes, 3, "calls");

    (void)state;
    assert_string_equal(
        rows, "      10       10      same   20.0 ms  60.0 ms  +40.0 ms    +40.00%  first\n"
              "      10       11        +1   9.00 ms  8.00 ms ~-1.00 ms     -1.00%  third\n"
              "1 whose times changed no more (~) than samples do by chance\n");
    free(rows);
}

/* Where samples are counted, their number is the time told twice. */
static void a_number_of_samples_is_no_count(void **state)
{
    struct change changes[] = {{.costs = {sampled(20, 20), sampled(24, 24)}}};
    char *rows = table_of(changes, 1, "samples");

    (void)state;
    assert_string_equal(rows, "1 whose times changed no more (~) than samples do by chance\n");
    free(rows);
}

static bool exceeds(uint64_t before, uint64_t after, double percent)
{
    const struct part parts[SIDES] = {{.ns = before * SAMPLE, .samples = before},
                                      {.ns = after * SAMPLE, .samples = after}};
    struct change change = {.costs = {sampled(1, before), sampled(1, after)}};
    struct diff diff = {
        .parts = {&parts[BEFORE], &parts[AFTER]},
        .changes = &change,
        .count = 1,
        .weight = WEIGHT_NS,
        .is_sampled = true,
    };

    change.noise_ns = diff_noise(&diff, change.costs);
    return diff_exceeds(&diff, percent);
}

static void no_threshold_is_passed_by_chance(void **state)
{
    (void)state;
    assert_false(exceeds(100, 128, 0));
    assert_true(exceeds(100, 132, 30));
    assert_false(exceeds(100, 132, 33));
}

/* Two instructions more in a second, less than any time tells. */
static void instructions_differ_exactly(void **state)
{
    const struct part parts[SIDES] = {{.instructions = 1000000000, .calls = 2},
                                      {.instructions = 1000000002, .calls = 2}};
    struct function functions[] = {{.name = "first"}, {.name = "second"}};
    const struct images images = {.functions = functions};
    struct change changes[] = {
        {.costs = {{.calls = 1, .self_instructions = 7, .total_instructions = 20},
                   {.calls = 1, .self_instructions = 9, .total_instructions = 22}}},
        {.function = 1,
         .costs = {{.calls = 1, .self_instructions = 999999993},
                   {.calls = 1, .self_instructions = 999999993}}},
    };
    struct diff diff = {
        .images = &images,
        .parts = {&parts[BEFORE], &parts[AFTER]},
        .changes = changes,
        .count = 2,
        .weight = WEIGHT_INSTRUCTIONS,
        .has_instructions = true,
        .counts = "calls",
    };
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    diff_format_named("table", true)->write(stream, &diff, 10);
    diff_format_named("tsv", true)->write(stream, &diff, 10);
    fclose(stream);
    assert_string_equal(
        text, "   calls    after    change    instr.    after    change  of instr.  function\n"
              "       1        1      same         7        9        +2     +0.00%  first\n"
              "1 that did not change\n"
              "       2        2      same    1.00 G   1.00 G        +2     +0.00%  (all)\n"
              "function\tmodule\tcalls_before\tcalls_after\tcalls_change\tself_ns_before\t"
              "self_ns_after\tself_ns_change\ttotal_ns_before\ttotal_ns_after\ttotal_ns_change\t"
              "self_ns_noise\tself_instructions_before\tself_instructions_after\t"
              "self_instructions_change\ttotal_instructions_before\ttotal_instructions_after\t"
              "total_instructions_change\n"
              "first\t\t1\t1\t0\t\t\t\t\t\t\t\t7\t9\t2\t20\t22\t2\n"
              "second\t\t1\t1\t0\t\t\t\t\t\t\t\t999999993\t999999993\t0\t0\t0\t0\n");
    assert_true(diff_exceeds(&diff, 0));
    assert_false(diff_exceeds(&diff, 1));
    free(text);
}

/* Nor is it part of the whole that is; percents are of all. */
static void what_varies_is_not_judged(void **state)
{
    const struct part parts[SIDES] = {{.instructions = 1000}, {.instructions = 1600}};
    struct change changes[] = {
        {.varies = true, .costs = {{.self_instructions = 900}, {.self_instructions = 1490}}},
        {.costs = {{.self_instructions = 100}, {.self_instructions = 110}}},
    };
    struct diff diff = {
        .parts = {&parts[BEFORE], &parts[AFTER]},
        .changes = changes,
        .count = 2,
        .weight = WEIGHT_INSTRUCTIONS,
        .has_instructions = true,
        .knows_noise = true,
    };

    (void)state;
    assert_true(diff_exceeds(&diff, 0.9));
    assert_false(diff_exceeds(&diff, 1));
    changes[0].varies = false;
    assert_true(diff_exceeds(&diff, 58));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_differ_by_chance),
        cmocka_unit_test(times_that_are_measured_do_not),
        cmocka_unit_test(what_changed_by_chance_is_counted_alone),
        cmocka_unit_test(a_number_of_samples_is_no_count),
        cmocka_unit_test(no_threshold_is_passed_by_chance),
        cmocka_unit_test(instructions_differ_exactly),
        cmocka_unit_test(what_varies_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
