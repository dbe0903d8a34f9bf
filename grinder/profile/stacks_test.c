#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grinder/profile/stacks.h"
#include "grinder/test_traces/ground_sample.h"

#include <cmocka.h>

enum { MAIN = 1, PARSE, PRINT };

static struct trace_sample sample;
static struct ground ground;

/* A thread whose main was called once; returns main's node. */
static uint32_t add_main(uint32_t thread, uint64_t ticks)
{
    trace_sample_add_thread(&sample, "main");
    return trace_sample_add_node(&sample, thread, trace_sample_thread(&sample, thread)->root, 0,
                                 MAIN, 1, ticks);
}

/* The cost of the one stack of these functions, numbered as in the trace; it is there. */
static struct stack_cost cost_of(size_t part, const uint32_t *functions, size_t count)
{
    const struct stack_tree *stacks = &ground.profile.parts[part].stacks;
    struct stack_cost found = {0};
    size_t times = 0;

    for (uint32_t i = 1; i < stacks->keys.count; i++) {
        struct stack_frames frames;
        bool same = true;
        stack_spell(stacks, i, &frames);
        for (size_t j = 0; j < frames.count && j < count; j++)
            same &= ground.images.functions[frames.functions[j]].index == functions[j];
        if (!same || frames.count != count)
            continue;
        found = stacks->costs[i];
        times++;
    }
    assert_int_equal(times, 1);
    return found;
}

#define expect(part, wanted_calls, wanted_ns, ...)                                                 \
    do {                                                                                           \
        const uint32_t functions[] = {__VA_ARGS__};                                                \
        struct stack_cost cost = cost_of(part, functions, sizeof(functions) / sizeof(*functions)); \
        assert_int_equal(cost.calls, wanted_calls);                                                \
        assert_int_equal(cost.self_ns, wanted_ns);                                                 \
    } while (0)

static void stacks_add_up_to_the_part(void)
{
    for (size_t i = 0; i < ground.profile.part_count; i++) {
        const struct part *part = &ground.profile.parts[i];
        uint64_t calls = 0, ns = 0, instructions = 0;
        for (size_t j = 0; j < part->stacks.keys.count; j++) {
            calls += part->stacks.costs[j].calls;
            ns += part->stacks.costs[j].self_ns;
            instructions += part->stacks.costs[j].instructions;
        }
        assert_int_equal(calls, part->calls);
        assert_int_equal(ns, part->ns);
        assert_int_equal(instructions, part->instructions);
    }
}

static void begin_two_threads(bool merged)
{
    uint32_t node;

    trace_sample_begin(&sample, 7, "./program");
    node = add_main(1, 1000);
    trace_sample_add_node(&sample, 1, node, 10, PRINT, 3, 300);
    trace_sample_add_node(&sample, 1, node, 20, PRINT, 1, 100); /* from another site */
    node = trace_sample_add_node(&sample, 1, node, 30, PARSE, 2, 200);
    trace_sample_add_node(&sample, 1, node, 40, PRINT, 5, 50);
    node = add_main(2, 500);
    trace_sample_add_node(&sample, 2, node, 10, PRINT, 7, 70);
    ground_begin(&ground, &sample, merged);
}

static void a_stack_has_its_own_costs(void **state)
{
    (void)state;
    begin_two_threads(false);
    expect(0, 1, 400, MAIN);
    expect(0, 4, 400, MAIN, PRINT);
    expect(0, 2, 150, MAIN, PARSE);
    expect(0, 5, 50, MAIN, PARSE, PRINT);
    expect(1, 7, 70, MAIN, PRINT);
    stacks_add_up_to_the_part();
    ground_free(&ground);
}

static void merged_threads_share_stacks(void **state)
{
    (void)state;
    begin_two_threads(true);
    assert_int_equal(ground.profile.part_count, 1);
    assert_int_equal(ground.profile.parts[0].stacks.keys.count, 1 + 4);
    expect(0, 2, 830, MAIN);
    expect(0, 11, 470, MAIN, PRINT);
    stacks_add_up_to_the_part();
    ground_free(&ground);
}

/* main -> parse was new past the limit, and what parse called is below its representative. */
static void folded_contexts_are_pairs(void **state)
{
    uint32_t node, main_node, of_main, of_parse;

    (void)state;
    trace_sample_begin(&sample, 7, "./program");
    main_node = add_main(1, 1000);
    of_main = trace_sample_add_fold(&sample, 1, MAIN);
    trace_sample_node(&sample, main_node)->context = of_main;
    of_parse = trace_sample_add_fold(&sample, 1, PARSE);
    node = trace_sample_add_node(&sample, 1, of_main, 10, PARSE, 2, 600);
    trace_sample_node(&sample, node)->context = of_parse;
    trace_sample_add_node(&sample, 1, of_parse, 20, PRINT, 5, 50);
    ground_begin(&ground, &sample, false);
    expect(0, 2, 0, STACK_CUT, MAIN, PARSE);
    expect(0, 0, 550, STACK_CUT, PARSE);
    expect(0, 5, 50, STACK_CUT, PARSE, PRINT);
    stacks_add_up_to_the_part();
    ground_free(&ground);
}

static void a_stack_has_its_own_instructions(void **state)
{
    uint32_t node;

    (void)state;
    trace_sample_begin(&sample, 7, "./program");
    node = add_main(1, 1000);
    trace_sample_add_instructions(&sample, node, 60);
    trace_sample_add_instructions(&sample, trace_sample_add_node(&sample, 1, node, 10, PRINT, 3, 0),
                                  5);
    trace_sample_add_instructions(&sample, trace_sample_add_node(&sample, 1, node, 20, PRINT, 1, 0),
                                  6);
    ground_begin(&ground, &sample, false);
    assert_int_equal(cost_of(0, (uint32_t[]){MAIN}, 1).instructions, 60);
    assert_int_equal(cost_of(0, (uint32_t[]){MAIN, PRINT}, 2).instructions, 11);
    stacks_add_up_to_the_part();
    ground_free(&ground);
}

static void what_is_too_deep_is_one_frame(void **state)
{
    const struct stack_tree *stacks;
    struct stack_frames frames;
    uint32_t node;

    (void)state;
    trace_sample_begin(&sample, 7, "./program");
    node = add_main(1, 10000);
    for (uint64_t i = 1; i < STACK_DEPTH + 100; i++)
        node = trace_sample_add_node(&sample, 1, node, 10, PARSE, 1, 10000 - i);
    ground_begin(&ground, &sample, false);
    stacks = &ground.profile.parts[0].stacks;
    assert_int_equal(stacks->keys.count, 1 + STACK_DEPTH + 1);
    stack_spell(stacks, STACK_DEPTH + 1, &frames);
    assert_int_equal(frames.count, STACK_DEPTH + 1);
    assert_int_equal(frames.functions[STACK_DEPTH], STACK_CUT);
    assert_int_equal(stacks->costs[STACK_DEPTH + 1].calls, 100);
    stacks_add_up_to_the_part();
    ground_free(&ground);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_has_its_own_costs),
        cmocka_unit_test(merged_threads_share_stacks),
        cmocka_unit_test(folded_contexts_are_pairs),
        cmocka_unit_test(a_stack_has_its_own_instructions),
        cmocka_unit_test(what_is_too_deep_is_one_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
