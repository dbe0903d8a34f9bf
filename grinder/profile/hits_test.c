#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/hits.h"
#include "grinder/test_traces/ground_sample.h"

#include <cmocka.h>

enum { MAIN = 1, PARSE, PRINT };

/* Root, main, and what it calls: parse, or print. Returns that context's index. */
static uint32_t add_thread(struct trace_sample *sample, uint32_t callee)
{
    uint32_t ordinal = trace_sample_add_thread(sample, "thread");
    uint32_t root = trace_sample_thread(sample, ordinal)->root;
    uint32_t main = trace_sample_add_node(sample, ordinal, root, 0x10, MAIN, 1, 0);

    return trace_sample_add_node(sample, ordinal, main, 0x20, callee, 5, 3000);
}

static void begin(struct trace_sample *sample)
{
    trace_sample_begin(sample, 1, "sampled");
    trace_sample_header(sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_header(sample)->start_ticks = 5000;
    trace_sample_header(sample)->created_ns = 1000000;
}

static void add_hit(struct trace_sample *sample, uint32_t thread, uint64_t ticks, uint32_t node,
                    uint32_t ns)
{
    trace_sample_add_hit(sample, thread, &(struct trace_hit){ticks, 0x401000, node, ns});
}

static uint32_t function_at(const struct ground *ground, const struct part *part, uint32_t stack)
{
    return ground->images.functions[stack_function(&part->stacks, stack)].index;
}

static void hits_have_their_time_and_stack(void **state)
{
    struct trace_sample sample;
    struct ground ground;
    const struct part *part;
    const struct hit *hits;
    uint32_t parse, print;

    (void)state;
    begin(&sample);
    parse = add_thread(&sample, PARSE);
    print = add_thread(&sample, PRINT);
    add_hit(&sample, 1, 6000, parse, 700);
    add_hit(&sample, 2, 6500, print, 900);
    add_hit(&sample, 1, 7000, parse, 800);
    add_hit(&sample, 1, 7100, print, 5); /* another thread's context */
    add_hit(&sample, 1, 7200, 4000, 5);  /* none */
    add_hit(&sample, 1, 4000, trace_sample_thread(&sample, 1)->root, 50);
    ground_begin(&ground, &sample, false);
    assert_int_equal(ground.profile.part_count, 2);

    part = &ground.profile.parts[0];
    hits = part->hits.items;
    assert_int_equal(part->hits.count, 3);
    assert_int_equal(hits[0].at_ns, 1000000); /* before its begin: at it */
    assert_int_equal(hits[0].stack, 0);       /* in no function */
    assert_int_equal(hits[1].at_ns, 1001000);
    assert_int_equal(hits[1].ns, 700);
    assert_int_equal(hits[1].spot, 0); /* of no module */
    assert_int_equal(function_at(&ground, part, hits[1].stack), PARSE);
    assert_int_equal(function_at(&ground, part, stack_parent(&part->stacks, hits[1].stack)), MAIN);
    assert_int_equal(hits[2].at_ns, 1002000);
    assert_int_equal(hits[2].stack, hits[1].stack);

    part = &ground.profile.parts[1];
    assert_int_equal(part->hits.count, 1);
    assert_int_equal(function_at(&ground, part, part->hits.items[0].stack), PRINT);
    ground_free(&ground);
}

static void threads_are_merged(void **state)
{
    struct trace_sample sample;
    struct ground ground;
    uint32_t parse, print;

    (void)state;
    begin(&sample);
    parse = add_thread(&sample, PARSE);
    print = add_thread(&sample, PRINT);
    add_hit(&sample, 1, 6000, parse, 700);
    add_hit(&sample, 2, 6500, print, 900);
    ground_begin(&ground, &sample, true);
    assert_int_equal(ground.profile.part_count, 1);
    assert_int_equal(ground.profile.parts[0].hits.count, 2);
    ground_free(&ground);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_have_their_time_and_stack),
        cmocka_unit_test(threads_are_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
