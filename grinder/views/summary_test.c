#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/test_traces/ground_sample.h"
#include "grinder/views/summary.h"

#include <cmocka.h>

/*
 * A timed call costs 10, 4 of them inside. main calls parse 20 times; worker, alone in its thread,
 * measured 16 in 4 calls, all of it its own measuring.
 *
 *      main    raw 1000, of that parse 500: self 500, its own 4 and parse's 20 * 6 are measuring
 *      parse   raw 500, of that 20 * 4
 */
static void build(struct trace_sample *sample)
{
    uint32_t main_node;

    trace_sample_begin(sample, 7, "./program");
    trace_sample_header(sample)->probe_inner = 4 << TRACE_COST_SHIFT;
    trace_sample_header(sample)->probe_timed = 10 << TRACE_COST_SHIFT;
    trace_sample_add_thread(sample, "main");
    trace_sample_add_thread(sample, "worker of main");
    main_node =
        trace_sample_add_node(sample, 1, trace_sample_thread(sample, 1)->root, 0, 1, 1, 1000);
    trace_sample_add_node(sample, 1, main_node, 10, 2, 20, 500);
    trace_sample_add_node(sample, 2, trace_sample_thread(sample, 2)->root, 0, 3, 4, 16);
}

/* The text, to be freed. */
static char *summary(struct trace_sample *sample)
{
    struct ground ground;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    ground_begin(&ground, sample, true);
    summary_write(
        stream, &(struct summary){.profile = &ground.profile, .images = &ground.images, .top = 20});
    fclose(stream);
    ground_free(&ground);
    return text;
}

static void expect_line(const char *text, const char *line)
{
    if (!text || !strstr(text, line))
        fail_msg("expected the line\n%s\nfound\n%s", line, text ? text : "nothing");
}

static void what_was_measuring_is_told_of_processes_threads_and_functions(void **state)
{
    struct trace_sample sample;
    char *text;

    (void)state;
    build(&sample);
    text = summary(&sample);
    /* 124 + 80 + 16 of 1000 + 16 */
    expect_line(text, "\n  measuring 21.7% of 0.000001 s in functions, and taken out\n");
    expect_line(text, "        0         3         0             796   20.4  holds    main\n");
    expect_line(text,
                "        0         2         0               0  100.0  holds    worker of main\n");
    expect_line(text, "             376   47.24              796  100.00   24.8  ");
    expect_line(text, "             420   52.76              420   52.76   16.0  ");
    expect_line(text, "               0    0.00                0    0.00  100.0  ");
    expect_line(text, "\ntotals: 796 ns 25 calls 3 functions 21.7% measuring\n");
    free(text);
}

static void what_costs_nothing_is_no_measuring(void **state)
{
    struct trace_sample sample;
    char *text;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->probe_inner = trace_sample_header(&sample)->probe_timed = 0;
    text = summary(&sample);
    expect_line(text, "\n  measuring 0.0% of 0.000001 s in functions, and taken out\n");
    expect_line(text, "\ntotals: 1016 ns 25 calls 3 functions 0.0% measuring\n");
    free(text);
}

static void without_times_there_are_counts_alone(void **state)
{
    struct trace_sample sample;
    char *text;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_NONE;
    text = summary(&sample);
    expect_line(text, "  timing    none: counts are exact, there are no times\n");
    expect_line(text, "\nfunctions by calls\n         calls  calls%  function\n");
    expect_line(text, "totals: 25 calls 3 functions\n");
    assert_null(strstr(text, " ns"));
    assert_null(strstr(text, "meas"));
    free(text);
}

/* main executed 30 instructions, parse 170, worker none. */
static void instructions_have_a_table(void **state)
{
    struct trace_sample sample;
    uint32_t below_root;
    char *text;

    (void)state;
    build(&sample);
    below_root = trace_sample_thread(&sample, 1)->root + 1;
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 100, 1, 5);
    trace_sample_count_modules(&sample);
    trace_sample_add_instructions(&sample, below_root, 30);
    trace_sample_add_instructions(&sample, below_root + 1, 170);
    text = summary(&sample);
    expect_line(text, "\nhottest functions by inclusive time\n");
    expect_line(text,
                "\nfunctions by instructions\n"
                "         calls      self instr.   self% inclusive instr.   incl%  function\n"
                "            20              170   85.00              170   85.00  unknown!#2\n"
                "             1               30   15.00              200  100.00  unknown!#1\n"
                "             4                0    0.00                0    0.00  unknown!#3\n");
    expect_line(text, "\ntotals: 796 ns 25 calls 3 functions 200 instructions 21.7% measuring\n");
    free(text);
}

static void samples_of_threads_are_told_with_how_they_were_taken(void **state)
{
    struct trace_sample sample;
    char *text;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_header(&sample)->ticks_per_second = 1000;
    trace_sample_thread(&sample, 1)->is_sampled =
        TRACE_SAMPLED_BY_TIMER | TRACE_SAMPLED_BY_PERF | TRACE_SAMPLED_STOPPED;
    trace_sample_thread(&sample, 1)->in_hooks = 500;
    trace_sample_thread(&sample, 2)->is_sampled = 0;
    text = summary(&sample);
    /* ticks are self times: 1000 + 500 + 16 in functions */
    expect_line(text,
                "\n  samples   0, by perf: 75.2% of 2.016000 s in functions, 24.8% in hooks\n"
                "  UNSAMPLED thread 2: no times of what it did\n"
                "  SAMPLES STOPPED in thread 1: no times of what it did after the program asked "
                "for SIGURG, or forbade timers; --timing=exact has their times\n");
    assert_null(strstr(text, "taken out"));
    free(text);
}

static void answers_are_no_wait(void **state)
{
    struct trace_sample sample;
    char *text;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_header(&sample)->ticks_per_second = 1000;
    text = summary(&sample);
    assert_null(strstr(text, "answers"));
    free(text);
    build(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_header(&sample)->ticks_per_second = 1000;
    for (uint32_t thread = 1; thread <= 2; thread++) {
        trace_sample_thread(&sample, thread)->answered = 100 * thread;
        trace_sample_thread(&sample, thread)->answered_ticks = 4;
    }
    text = summary(&sample);
    expect_line(
        text,
        "\n  answers   0.008000 s in 300 system calls that umbra record answered; nobody's\n");
    assert_null(strstr(text, "  waiting"));
    free(text);
}

static void waits_are_told_apart(void **state)
{
    struct trace_sample sample;
    uint32_t below_root;
    char *text;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_header(&sample)->ticks_per_second = 1000;
    below_root = trace_sample_thread(&sample, 1)->root + 1;
    trace_sample_add_wait(&sample, 1, below_root + 1, 2, 400);
    trace_sample_add_wait(&sample, 1, below_root, 1, 100);
    trace_sample_add_wait(&sample, 2, below_root, 1, 1000000); /* not its own: nobody's */
    text = summary(&sample);
    expect_line(text, "\n  waiting   0.500000 s in system calls that took more than 50 us\n");
    expect_line(text, "      1500000000        500000000  holds    main\n");
    expect_line(text,
                "\nfunctions by time waited\n"
                "         calls      waits        waited ns     inclusive ns       longest ns  "
                "function\n"
                "            20          2        400000000        400000000        200000000");
    expect_line(text,
                "\nfunctions by inclusive time waited\n"
                "         calls      waits        waited ns     inclusive ns       longest ns  "
                "function\n"
                "             1          1        100000000        500000000        100000000");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measuring_is_told_of_processes_threads_and_functions),
        cmocka_unit_test(what_costs_nothing_is_no_measuring),
        cmocka_unit_test(without_times_there_are_counts_alone),
        cmocka_unit_test(instructions_have_a_table),
        cmocka_unit_test(samples_of_threads_are_told_with_how_they_were_taken),
        cmocka_unit_test(answers_are_no_wait),
        cmocka_unit_test(waits_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
