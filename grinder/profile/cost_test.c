#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "grinder/profile/tree_load.h"
#include "grinder/test_traces/ground_sample.h"

#include <cmocka.h>

enum { MAIN = 1, PARSE, PRINT, FIB };

static struct trace_sample sample;
static struct ground ground;

/* A thread whose main was called once; returns main's node. */
static uint32_t begin(uint64_t main_ticks)
{
    trace_sample_begin(&sample, 7, "./program");
    trace_sample_add_thread(&sample, "main");
    return trace_sample_add_node(&sample, 1, trace_sample_thread(&sample, 1)->root, 0, MAIN, 1,
                                 main_ticks);
}

static void expect(struct costs found, uint64_t calls, uint64_t self_ns, uint64_t total_ns)
{
    assert_int_equal(found.calls, calls);
    assert_int_equal(found.self_ns, self_ns);
    assert_int_equal(found.total_ns, total_ns);
}

static void self_time_is_what_callees_leave(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 5, 600);

    (void)state;
    trace_sample_add_node(&sample, 1, parse, 20, PRINT, 7, 100);
    trace_sample_add_node(&sample, 1, main_node, 30, PRINT, 1, 50);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, MAIN), 1, 350, 1000);
    expect(ground_function(&ground, 0, PARSE), 5, 500, 600);
    expect(ground_function(&ground, 0, PRINT), 8, 150, 150);
    expect(ground_edge(&ground, 0, PARSE, PRINT), 7, 100, 100);
    expect(ground_edge(&ground, 0, 0, MAIN), 1, 350, 1000);
    assert_int_equal(ground_edge(&ground, 0, MAIN, PARSE).total_calls, 12);
    assert_int_equal(ground.profile.parts[0].ns, 1000);
    assert_int_equal(ground.profile.parts[0].calls, 14);
    ground_free(&ground);
}

/* Inside: 3 a call of its own. Both: 3 + 5 for each call that main's ticks enclose. */
static void probes_are_taken_out(void **state)
{
    uint32_t main_node = begin(1000 + 3 + 10 * 8);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 10, 400 + 10 * 3);

    (void)state;
    (void)parse;
    trace_sample_header(&sample)->probe_inner = 3 << TRACE_COST_SHIFT;
    trace_sample_header(&sample)->probe_timed = (3 + 5) << TRACE_COST_SHIFT;
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, MAIN), 1, 600, 1000);
    expect(ground_function(&ground, 0, PARSE), 10, 400, 400);
    ground_free(&ground);
}

static void unwound_calls_paid_for_their_probes_too(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 10, 100);

    (void)state;
    trace_sample_node(&sample, parse)->exits = 4;
    trace_sample_thread(&sample, 1)->unwound = 6;
    trace_sample_header(&sample)->probe_inner = 3 << TRACE_COST_SHIFT;
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PARSE), 10, 70, 70);
    assert_true(ground.profile.processes[0].threads[0].balanced);
    ground_free(&ground);
}

static void more_probes_than_time_is_no_time(void **state)
{
    uint32_t main_node = begin(10);

    (void)state;
    (void)main_node;
    trace_sample_header(&sample)->probe_inner = UINT32_MAX;
    trace_sample_header(&sample)->probe_timed = UINT32_MAX;
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, MAIN), 1, 0, 0);
    ground_free(&ground);
}

/* Number 16 was the last of 20 calls to be timed. */
static void calls_behind_the_last_timed_one_last_as_long_as_the_others(void **state)
{
    uint32_t main_node = begin(5000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 20, 1600);
    struct trace_node *node = trace_sample_node(&sample, parse);

    (void)state;
    trace_sample_header(&sample)->timing = TRACE_TIMING_ADAPTIVE;
    node->next = 24;
    node->gap = 8;
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PARSE), 20, 2000, 2000);
    expect(ground_function(&ground, 0, MAIN), 1, 3000, 5000);
    ground_free(&ground);
}

/* A passed call leaves 4 in its caller's interval; its estimate has 1 of a clock reading's. */
static void passed_calls_are_calls_and_cost_less(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse =
        trace_sample_add_node(&sample, 1, main_node, 10, PARSE | TRACE_FUNCTION_LEAF, 0, 100);

    (void)state;
    trace_sample_header(&sample)->timing = TRACE_TIMING_ADAPTIVE;
    trace_sample_header(&sample)->probe_inner = 1 << TRACE_COST_SHIFT;
    trace_sample_header(&sample)->probe_passed = 4 << TRACE_COST_SHIFT;
    trace_sample_node(&sample, parse)->passed = 10;
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PARSE), 10, 90, 90);
    expect(ground_function(&ground, 0, MAIN), 1, 1000 - 100 - 30 - 1, 1000 - 30 - 1 - 10);
    assert_int_equal(ground_function(&ground, 0, PARSE).measuring_ns, 10);
    assert_int_equal(ground_function(&ground, 0, MAIN).measuring_ns, 31);
    assert_true(ground.profile.processes[0].threads[0].balanced);
    ground_free(&ground);
}

/* parse's callee is estimated to take 50 more than parse itself. */
static void what_estimates_lack_is_taken_from_the_caller(void **state)
{
    uint32_t main_node = begin(2000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 5, 1000);

    (void)state;
    trace_sample_header(&sample)->timing = TRACE_TIMING_ADAPTIVE;
    trace_sample_add_node(&sample, 1, parse, 20, PRINT, 5, 1050);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PRINT), 5, 1050, 1050);
    expect(ground_function(&ground, 0, PARSE), 5, 0, 1050);
    expect(ground_function(&ground, 0, MAIN), 1, 950, 2000);
    ground_free(&ground);
}

static void a_live_caller_takes_as_long_as_its_callees(void **state)
{
    uint32_t main_node = begin(0);

    (void)state;
    trace_sample_node(&sample, main_node)->exits = 0;
    trace_sample_thread(&sample, 1)->state = TRACE_THREAD_RUNNING;
    trace_sample_header(&sample)->state = TRACE_RUNNING;
    trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 5, 600);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, MAIN), 1, 0, 600);
    assert_int_equal(ground.profile.processes[0].threads[0].live, 1);
    assert_true(ground.profile.processes[0].threads[0].live_is_derived);
    assert_true(ground.profile.processes[0].threads[0].balanced);
    ground_free(&ground);
}

static void a_thread_that_was_cut_may_have_returned_since(void **state)
{
    uint32_t main_node = begin(0);

    (void)state;
    trace_sample_node(&sample, main_node)->exits = 0;
    trace_sample_thread(&sample, 1)->state = TRACE_THREAD_CUT;
    trace_sample_thread(&sample, 1)->live = 3;
    ground_begin(&ground, &sample, false);
    assert_int_equal(ground.profile.processes[0].threads[0].live, 1);
    assert_true(ground.profile.processes[0].threads[0].live_is_derived);
    assert_true(ground.profile.processes[0].threads[0].balanced);
    ground_free(&ground);
}

/* main calls parse, which calls fib and then jumps to print: 700 of main's 1000 ticks. */
static void a_tail_call_adds_to_the_caller_but_not_to_its_self_time(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 1, 300);

    (void)state;
    trace_sample_add_node(&sample, 1, parse, 20, FIB, 1, 100);
    trace_sample_add_node(&sample, 1, parse, 10 | TRACE_SITE_TAIL, PRINT, 1, 400);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PARSE), 1, 200, 700);
    expect(ground_function(&ground, 0, PRINT), 1, 400, 400);
    expect(ground_function(&ground, 0, MAIN), 1, 300, 1000);
    ground_free(&ground);
}

/* fib(3) calls fib(2) and fib(1), fib(2) calls fib(1) and fib(0). */
static void recursion_counts_inclusive_time_once(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t outer = trace_sample_add_node(&sample, 1, main_node, 10, FIB, 1, 900);
    uint32_t inner = trace_sample_add_node(&sample, 1, outer, 20, FIB, 2, 600);

    (void)state;
    trace_sample_add_node(&sample, 1, inner, 20, FIB, 2, 200);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, FIB), 5, 900, 900);
    expect(ground_edge(&ground, 0, MAIN, FIB), 1, 300, 900);
    expect(ground_edge(&ground, 0, FIB, FIB), 4, 600, 0);
    assert_int_equal(ground.profile.parts[0].ns, 1000);
    ground_free(&ground);
}

/* main -> parse -> print, and past the limit, below representatives: main -> print and
   parse -> print are folded, print calls fib. */
static void folded_contexts_share_what_they_call(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 1, 500);
    uint32_t body = trace_sample_add_fold(&sample, 1, PRINT);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 20, PRINT, 2, 100);
    uint32_t second = trace_sample_add_node(&sample, 1, parse, 30, PRINT, 3, 200);

    (void)state;
    trace_sample_node(&sample, first)->context = body;
    trace_sample_node(&sample, second)->context = body;
    trace_sample_add_node(&sample, 1, body, 40, FIB, 9, 250);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PRINT), 5, 50, 300);
    expect(ground_function(&ground, 0, FIB), 9, 250, 250);
    expect(ground_edge(&ground, 0, PRINT, FIB), 9, 250, 250);
    expect(ground_edge(&ground, 0, PARSE, PRINT), 3, 0, 200);
    assert_int_equal(ground.profile.parts[0].ns, 1000);
    assert_int_equal(ground.profile.parts[0].calls, 16);
    assert_int_equal(ground.profile.processes[0].lost_contexts, 0);
    ground_free(&ground);
}

/* Here print jumps to fib instead of calling it: fib's time is that of print's callers, by how
   often each of them calls print. So print has all of its own. */
static void what_folded_contexts_jump_to_is_their_callers(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 1, 500);
    uint32_t body = trace_sample_add_fold(&sample, 1, PRINT);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 20, PRINT, 2, 100);
    uint32_t second = trace_sample_add_node(&sample, 1, parse, 30, PRINT, 3, 200);

    (void)state;
    trace_sample_node(&sample, first)->context = body;
    trace_sample_node(&sample, second)->context = body;
    trace_sample_add_node(&sample, 1, body, 40 | TRACE_SITE_TAIL, FIB, 5, 250);
    ground_begin(&ground, &sample, false);
    assert_int_equal(ground_function(&ground, 0, PRINT).self_ns, 300);
    assert_int_equal(ground_function(&ground, 0, FIB).self_ns, 250);
    assert_int_equal(ground_function(&ground, 0, PARSE).self_ns, 500 - 200 - 150);
    assert_int_equal(ground_function(&ground, 0, MAIN).self_ns, 1000 - 500 - 100 - 100);
    assert_int_equal(ground.profile.parts[0].ns, 1000);
    ground_free(&ground);
}

/* print's callees have 40 more than it has itself: fib, folded too, has that less. */
static void what_a_fold_lacks_is_taken_from_the_others(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t print = trace_sample_add_fold(&sample, 1, PRINT);
    uint32_t fib = trace_sample_add_fold(&sample, 1, FIB);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 20, PRINT, 2, 500);
    uint32_t second = trace_sample_add_node(&sample, 1, print, 30, FIB, 3, 540);

    (void)state;
    trace_sample_node(&sample, first)->context = print;
    trace_sample_node(&sample, second)->context = fib;
    ground_begin(&ground, &sample, false);
    assert_int_equal(ground_function(&ground, 0, PRINT).self_ns, 0);
    assert_int_equal(ground_function(&ground, 0, FIB).self_ns, 500);
    assert_int_equal(ground.profile.parts[0].ns, 1000);
    ground_free(&ground);
}

/* With probes, 3 inside and 5 outside, what is taken out of folded contexts is measuring, too. Raw,
   print has 300 less its callee's 250; its own calls are 5, its callee's 1. */
static void folded_contexts_were_measured_too(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t body = trace_sample_add_fold(&sample, 1, PRINT);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 20, PRINT, 5, 300);

    (void)state;
    trace_sample_header(&sample)->probe_inner = 3 << TRACE_COST_SHIFT;
    trace_sample_header(&sample)->probe_timed = (3 + 5) << TRACE_COST_SHIFT;
    trace_sample_node(&sample, first)->context = body;
    trace_sample_add_node(&sample, 1, body, 40, FIB, 1, 250);
    ground_begin(&ground, &sample, false);
    assert_int_equal(ground_function(&ground, 0, PRINT).self_ns, 50 - 5 * 3 - 5);
    assert_int_equal(ground_function(&ground, 0, PRINT).measuring_ns, 5 * 3 + 5);
    assert_int_equal(ground_function(&ground, 0, FIB).measuring_ns, 3);
    assert_int_equal(ground.profile.parts[0].ns + ground.profile.parts[0].measuring_ns, 1000);
    ground_free(&ground);
}

/* print calls itself past the limit: its representative is its own caller. */
static void folded_recursion_adds_up(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t body = trace_sample_add_fold(&sample, 1, PRINT);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 20, PRINT, 1, 800);
    uint32_t again = trace_sample_add_node(&sample, 1, body, 50, PRINT, 10, 3000);

    (void)state;
    trace_sample_node(&sample, first)->context = body;
    trace_sample_node(&sample, again)->context = body;
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PRINT), 11, 800, 800);
    assert_int_equal(ground.profile.parts[0].ns, 1000);
    ground_free(&ground);
}

/* A module that has none of these functions. */
static void count_instructions(void)
{
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 100, 1, 5);
    trace_sample_count_modules(&sample);
}

static void expect_instructions(struct costs found, uint64_t self, uint64_t total)
{
    assert_int_equal(found.self_instructions, self);
    assert_int_equal(found.total_instructions, total);
}

static void instructions_of_callees_are_among_the_callers_inclusive_ones(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t outer = trace_sample_add_node(&sample, 1, main_node, 10, FIB, 1, 900);
    uint32_t inner = trace_sample_add_node(&sample, 1, outer, 20, FIB, 2, 600);
    uint32_t print = trace_sample_add_node(&sample, 1, inner, 30, PRINT, 2, 200);

    (void)state;
    count_instructions();
    trace_sample_add_instructions(&sample, main_node, 1000);
    trace_sample_add_instructions(&sample, outer, 100);
    trace_sample_add_instructions(&sample, inner, 20);
    trace_sample_add_instructions(&sample, print, 7);
    ground_begin(&ground, &sample, false);
    assert_true(profile_has_instructions(&ground.profile));
    expect_instructions(ground_function(&ground, 0, MAIN), 1000, 1127);
    expect_instructions(ground_function(&ground, 0, FIB), 120, 127);
    expect_instructions(ground_function(&ground, 0, PRINT), 7, 7);
    expect_instructions(ground_edge(&ground, 0, 0, MAIN), 1000, 1127);
    expect_instructions(ground_edge(&ground, 0, MAIN, FIB), 100, 127);
    expect_instructions(ground_edge(&ground, 0, FIB, FIB), 20, 0);
    assert_int_equal(ground.profile.parts[0].instructions, 1127);
    ground_free(&ground);
}

/* print's callers lack what is below its representative, as it is not known whose it is. */
static void a_representative_has_its_own_instructions(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 1, 500);
    uint32_t body = trace_sample_add_fold(&sample, 1, PRINT);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 20, PRINT, 2, 100);
    uint32_t second = trace_sample_add_node(&sample, 1, parse, 30, PRINT, 3, 200);
    uint32_t fib = trace_sample_add_node(&sample, 1, body, 40, FIB, 9, 250);

    (void)state;
    trace_sample_node(&sample, first)->context = body;
    trace_sample_node(&sample, second)->context = body;
    count_instructions();
    trace_sample_add_instructions(&sample, main_node, 1000);
    trace_sample_add_instructions(&sample, first, 5);
    trace_sample_add_instructions(&sample, second, 7);
    trace_sample_add_instructions(&sample, body, 40);
    trace_sample_add_instructions(&sample, fib, 100);
    ground_begin(&ground, &sample, false);
    expect_instructions(ground_function(&ground, 0, PRINT), 52, 152);
    expect_instructions(ground_function(&ground, 0, FIB), 100, 100);
    expect_instructions(ground_function(&ground, 0, PARSE), 0, 7);
    expect_instructions(ground_function(&ground, 0, MAIN), 1000, 1012);
    expect_instructions(ground_edge(&ground, 0, PRINT, FIB), 100, 100);
    expect(ground_function(&ground, 0, PRINT), 5, 50, 300);
    assert_int_equal(ground.profile.parts[0].instructions, 1152);
    ground_free(&ground);
}

static void fewer_than_no_instructions_are_none(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t parse = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 1, 500);

    (void)state;
    count_instructions();
    trace_sample_add_instructions(&sample, main_node, 10);
    trace_sample_add_instructions(&sample, parse, (uint64_t)-3);
    ground_begin(&ground, &sample, false);
    expect_instructions(ground_function(&ground, 0, MAIN), 10, 10);
    expect_instructions(ground_function(&ground, 0, PARSE), 0, 0);
    ground_free(&ground);
}

/* An agent in small: the node for a call of FIB from site below body; past 200 nodes, a folded
   one. Sets body to where its callees belong. */
static uint32_t enter_fib(uint32_t *body, uint64_t site)
{
    static uint32_t nodes[1000], count, representative;
    uint32_t node;

    if (!*body) {
        count = representative = 0;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_node *known = trace_sample_node(&sample, nodes[i]);
        if (known->parent == *body && known->site == site) {
            *body = known->context;
            return nodes[i];
        }
    }
    assert_true(count < 1000);
    node = nodes[count++] = trace_sample_add_node(&sample, 1, *body, site, FIB, 0, 0);
    if (count > 200) {
        if (!representative)
            representative = trace_sample_add_fold(&sample, 1, FIB);
        trace_sample_node(&sample, node)->context = representative;
    }
    *body = trace_sample_node(&sample, node)->context;
    return node;
}

/* Each call takes 10 ticks for itself. Returns what it took altogether. */
static uint64_t call_fib(uint32_t body, uint64_t site, int n, uint64_t *calls)
{
    uint32_t node = enter_fib(&body, site);
    uint64_t ticks = 10;

    if (n >= 2)
        ticks += call_fib(body, 100, n - 1, calls) + call_fib(body, 200, n - 2, calls);
    trace_sample_node(&sample, node)->calls++;
    trace_sample_node(&sample, node)->exits++;
    trace_sample_node(&sample, node)->ticks += ticks;
    ++*calls;
    return ticks;
}

/* Every call of fib is a context of its own: 1,973 of them for fib(15). */
static void fib_past_the_limit_keeps_its_calls_and_time(void **state)
{
    uint32_t main_node = begin(50000);
    uint32_t none = 0;
    uint64_t calls = 0, ticks;

    (void)state;
    enter_fib(&none, 0);
    ticks = call_fib(main_node, 50, 15, &calls);
    assert_int_equal(calls, 1973);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, FIB), calls, ticks, ticks);
    expect(ground_function(&ground, 0, MAIN), 1, 50000 - ticks, 50000);
    assert_int_equal(ground_edge(&ground, 0, FIB, FIB).calls, calls - 1);
    ground_free(&ground);
}

static void circles_and_orphans_are_lost(void **state)
{
    uint32_t main_node = begin(1000);
    uint32_t first = trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 1, 5);
    uint32_t second = trace_sample_add_node(&sample, 1, first, 10, PRINT, 1, 5);

    (void)state;
    trace_sample_node(&sample, first)->parent = second;
    trace_sample_add_node(&sample, 1, 4000000000u, 10, PARSE, 1, 5);
    trace_sample_add_node(&sample, 1, 0, 10, PARSE, 1, 5);
    ground_begin(&ground, &sample, false);
    assert_int_equal(ground.profile.processes[0].lost_contexts, 4);
    assert_int_equal(ground.profile.parts[0].calls, 1);
    ground_free(&ground);
}

static void a_thread_that_does_not_balance_is_told(void **state)
{
    uint32_t main_node = begin(1000);

    (void)state;
    trace_sample_node(&sample, main_node)->exits = 0;
    ground_begin(&ground, &sample, false);
    assert_false(ground.profile.processes[0].threads[0].balanced);
    ground_free(&ground);
}

/* A clock with which no time is a whole number of ns. */
static void build_uneven(void)
{
    uint32_t node = begin(1000003);

    trace_sample_header(&sample)->ticks_per_second = 2999999999u;
    for (uint32_t i = 0; i < 500; i++)
        node = trace_sample_add_node(&sample, 1, node, i, 1 + i % 7, i, 1000000 - 7 * i);
    trace_sample_add_thread(&sample, "other");
    trace_sample_add_node(&sample, 2, trace_sample_thread(&sample, 2)->root, 0, FIB, 1, 77777);
}

static void parts_and_functions_add_up_to_the_same(void **state)
{
    struct ground merged;
    uint64_t functions_ns = 0;

    (void)state;
    build_uneven();
    ground_begin(&ground, &sample, false);
    build_uneven();
    ground_begin(&merged, &sample, true);
    for (uint32_t function = 1; function <= 7; function++)
        functions_ns += ground_function(&merged, 0, function).self_ns;
    assert_int_equal(merged.profile.parts[0].ns, functions_ns);
    assert_int_equal(merged.profile.parts[0].ns,
                     ground.profile.parts[0].ns + ground.profile.parts[1].ns);
    assert_int_equal(merged.profile.parts[0].calls,
                     ground.profile.parts[0].calls + ground.profile.parts[1].calls);
    assert_int_equal(ground_function(&ground, 0, MAIN).total_ns, ground.profile.parts[0].ns);
    ground_free(&ground);
    ground_free(&merged);
}

static uint32_t next_random(uint32_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return *random;
}

/* A tree of two threads with folds, in which words were overwritten with others. */
static void build_damaged(uint32_t *random)
{
    uint32_t nodes[64], count = 0;

    nodes[count++] = begin(1000000);
    nodes[count++] = trace_sample_add_fold(&sample, 1, PRINT);
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 1, 100, 5);
    trace_sample_add_thread(&sample, "other");
    while (count < 64) {
        nodes[count] = trace_sample_add_node(&sample, 1, nodes[next_random(random) % count],
                                             next_random(random), 1 + next_random(random) % 5, 3,
                                             next_random(random));
        if (next_random(random) % 4 == 0)
            trace_sample_node(&sample, nodes[count])->context = nodes[1];
        count++;
    }
    for (uint32_t hit = next_random(random) % 30; hit > 0; hit--) {
        struct trace_node *node = trace_sample_node(&sample, nodes[next_random(random) % count]);
        uint32_t *words = (uint32_t *)node;
        words[next_random(random) % 16] =
            next_random(random) % 2 ? nodes[next_random(random) % count] : next_random(random);
    }
}

static void damaged_trees_still_add_up(void **state)
{
    uint32_t random = 88172645u;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint64_t ns = 0;
        build_damaged(&random);
        ground_begin(&ground, &sample, true);
        for (size_t i = 0; i < ground.profile.parts[0].functions.keys.count; i++)
            ns += ground.profile.parts[0].functions.costs[i].self_ns;
        assert_int_equal(ns, ground.profile.parts[0].ns);
        ground_free(&ground);
    }
}

struct sum {
    uint64_t self_ns[4], measuring_ns[4], total_ns[4]; /* by number of all functions */
};

static void add_self(void *user, const struct tree *tree, const struct context *context,
                     const struct cost *cost)
{
    struct sum *sum = user;

    (void)tree;
    sum->self_ns[context->function] += cost->self_ns;
    sum->measuring_ns[context->function] += cost->measuring_ns;
    sum->total_ns[context->function] = cost->total_ns;
}

/* Calls of a few ns, a hundred million of them: timing says 1.2 s, samples say 0.5. */
static void short_calls_take_what_samples_say(void **state)
{
    uint32_t main_node = begin(3000000000);
    struct function_samples samples[] = {{1, 400}, {2, 1000}};
    struct sum sum = {0};
    const struct cost_visitor visitor = {.user = &sum, .leave = add_self};
    struct failure failure;
    struct images images;
    struct tree tree;
    char path[64];
    int fd;

    (void)state;
    trace_sample_add_node(&sample, 1, main_node, 10, PARSE, 100000000, 1200000000);
    trace_sample_header(&sample)->probe_timed = 20 << TRACE_COST_SHIFT;
    fd = trace_sample_open(&sample, path);
    images_begin(&images);
    assert_true(tree_load_path(&tree, path, &images, &failure));
    tree.threads[0].samples = (struct thread_samples){
        .functions = samples, .count = 2, .in_functions = 1400, .period_ns = 500000};
    cost_walk(&tree, &tree.threads[0], images_function_count(&images), &visitor);
    assert_in_range(sum.self_ns[1], 199000000, 201000000);
    assert_in_range(sum.self_ns[2], 499000000, 501000000);
    assert_int_equal(sum.total_ns[1], sum.self_ns[1] + sum.self_ns[2]);
    assert_int_equal(sum.self_ns[1] + sum.measuring_ns[1], 1800000000);
    assert_int_equal(sum.self_ns[2] + sum.measuring_ns[2], 1200000000);
    tree.threads[0].samples = (struct thread_samples){0};
    tree_free(&tree);
    images_free(&images);
    trace_sample_free(&sample);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_time_is_what_callees_leave),
        cmocka_unit_test(probes_are_taken_out),
        cmocka_unit_test(short_calls_take_what_samples_say),
        cmocka_unit_test(unwound_calls_paid_for_their_probes_too),
        cmocka_unit_test(more_probes_than_time_is_no_time),
        cmocka_unit_test(calls_behind_the_last_timed_one_last_as_long_as_the_others),
        cmocka_unit_test(passed_calls_are_calls_and_cost_less),
        cmocka_unit_test(what_estimates_lack_is_taken_from_the_caller),
        cmocka_unit_test(a_live_caller_takes_as_long_as_its_callees),
        cmocka_unit_test(a_thread_that_was_cut_may_have_returned_since),
        cmocka_unit_test(a_tail_call_adds_to_the_caller_but_not_to_its_self_time),
        cmocka_unit_test(recursion_counts_inclusive_time_once),
        cmocka_unit_test(folded_contexts_share_what_they_call),
        cmocka_unit_test(what_folded_contexts_jump_to_is_their_callers),
        cmocka_unit_test(what_a_fold_lacks_is_taken_from_the_others),
        cmocka_unit_test(folded_contexts_were_measured_too),
        cmocka_unit_test(folded_recursion_adds_up),
        cmocka_unit_test(instructions_of_callees_are_among_the_callers_inclusive_ones),
        cmocka_unit_test(a_representative_has_its_own_instructions),
        cmocka_unit_test(fewer_than_no_instructions_are_none),
        cmocka_unit_test(fib_past_the_limit_keeps_its_calls_and_time),
        cmocka_unit_test(circles_and_orphans_are_lost),
        cmocka_unit_test(a_thread_that_does_not_balance_is_told),
        cmocka_unit_test(parts_and_functions_add_up_to_the_same),
        cmocka_unit_test(damaged_trees_still_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
