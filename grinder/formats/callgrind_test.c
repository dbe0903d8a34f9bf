#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/formats/format.h"
#include "grinder/test_traces/ground_sample.h"

#include <cmocka.h>

/* main calls helper twice from one place; a second thread runs worker alone. */
static void build(struct trace_sample *sample)
{
    uint32_t main_node;

    trace_sample_begin(sample, 7, "./program\nwith a line break");
    trace_sample_add_thread(sample, "main");
    trace_sample_add_thread(sample, "worker");
    main_node =
        trace_sample_add_node(sample, 1, trace_sample_thread(sample, 1)->root, 0, 1, 1, 5000);
    trace_sample_add_node(sample, 1, main_node, 10, 2, 2, 4000);
    trace_sample_add_node(sample, 2, trace_sample_thread(sample, 2)->root, 0, 3, 1, 800);
}

/* The callgrind text of the sample, which is freed; to be freed. */
static char *grind_sample(struct trace_sample *sample, bool merged)
{
    struct ground ground;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    ground_begin(&ground, sample, merged);
    callgrind_write(stream, &(struct view){.profile = &ground.profile,
                                           .images = &ground.images,
                                           .count = ground.profile.part_count});
    fclose(stream);
    ground_free(&ground);
    return text;
}

static char *grind(bool merged)
{
    struct trace_sample sample;

    build(&sample);
    return grind_sample(&sample, merged);
}

#define EVENTS                                                                                     \
    "positions: line\n"                                                                            \
    "event: ns : Nanoseconds\n"                                                                    \
    "event: Calls : Calls\n"                                                                       \
    "events: ns Calls\n"

static void each_thread_is_a_part(void **state)
{
    char *text = grind(false);

    (void)state;
    assert_string_equal(text, "# callgrind format\n"
                              "version: 1\n"
                              "creator: umbra grinder " UMBRA_VERSION "\n"
                              "\n"
                              "pid: 7\n"
                              "cmd: ./program?with a line break\n"
                              "part: 1\n"
                              "thread: 1\n"
                              "desc: Trigger: main\n" EVENTS "summary: 5000 3\n"
                              "\n"
                              "ob=(1) ???\n"
                              "fl=(1) ???\n"
                              "fn=(1) (root)\n"
                              "0 0 0\n"
                              "cob=(1)\n"
                              "cfi=(1)\n"
                              "cfn=(2) unknown!#1\n"
                              "calls=1 0\n"
                              "0 5000 3\n"
                              "\n"
                              "ob=(1)\n"
                              "fl=(1)\n"
                              "fn=(2)\n"
                              "0 1000 1\n"
                              "cob=(1)\n"
                              "cfi=(1)\n"
                              "cfn=(3) unknown!#2\n"
                              "calls=2 0\n"
                              "0 4000 2\n"
                              "\n"
                              "ob=(1)\n"
                              "fl=(1)\n"
                              "fn=(3)\n"
                              "0 4000 2\n"
                              "\n"
                              "totals: 5000 3\n"
                              "\n"
                              "pid: 7\n"
                              "cmd: ./program?with a line break\n"
                              "part: 2\n"
                              "thread: 2\n"
                              "desc: Trigger: worker\n" EVENTS "summary: 800 1\n"
                              "\n"
                              "ob=(1) ???\n"
                              "fl=(1) ???\n"
                              "fn=(1) (root)\n"
                              "0 0 0\n"
                              "cob=(1)\n"
                              "cfi=(1)\n"
                              "cfn=(4) unknown!#3\n"
                              "calls=1 0\n"
                              "0 800 1\n"
                              "\n"
                              "ob=(1)\n"
                              "fl=(1)\n"
                              "fn=(4)\n"
                              "0 800 1\n"
                              "\n"
                              "totals: 800 1\n");
    free(text);
}

/* main executed 70 instructions, helper 20, worker, whose trace is the same, 5. */
static void instructions_are_the_first_event(void **state)
{
    struct trace_sample sample;
    char *text;

    (void)state;
    build(&sample);
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 100, 1, 5);
    trace_sample_count_modules(&sample);
    trace_sample_add_instructions(&sample, trace_sample_thread(&sample, 1)->root + 1, 70);
    trace_sample_add_instructions(&sample, trace_sample_thread(&sample, 1)->root + 2, 20);
    trace_sample_add_instructions(&sample, trace_sample_thread(&sample, 2)->root + 1, 5);
    text = grind_sample(&sample, true);
    assert_string_equal(text, "# callgrind format\n"
                              "version: 1\n"
                              "creator: umbra grinder " UMBRA_VERSION "\n"
                              "\n"
                              "pid: 7\n"
                              "cmd: ./program?with a line break\n"
                              "part: 1\n"
                              "desc: Trigger: all threads of 1 process\n"
                              "positions: line\n"
                              "event: Ir : Instructions executed\n"
                              "event: ns : Nanoseconds\n"
                              "event: Calls : Calls\n"
                              "events: Ir ns Calls\n"
                              "summary: 95 5800 4\n"
                              "\n"
                              "ob=(1) ???\n"
                              "fl=(1) ???\n"
                              "fn=(1) (root)\n"
                              "0 0 0 0\n"
                              "cob=(1)\n"
                              "cfi=(1)\n"
                              "cfn=(2) unknown!#1\n"
                              "calls=1 0\n"
                              "0 90 5000 3\n"
                              "cob=(1)\n"
                              "cfi=(1)\n"
                              "cfn=(4) unknown!#3\n"
                              "calls=1 0\n"
                              "0 5 800 1\n"
                              "\n"
                              "ob=(1)\n"
                              "fl=(1)\n"
                              "fn=(2)\n"
                              "0 70 1000 1\n"
                              "cob=(1)\n"
                              "cfi=(1)\n"
                              "cfn=(3) unknown!#2\n"
                              "calls=2 0\n"
                              "0 20 4000 2\n"
                              "\n"
                              "ob=(1)\n"
                              "fl=(1)\n"
                              "fn=(3)\n"
                              "0 20 4000 2\n"
                              "\n"
                              "ob=(1)\n"
                              "fl=(1)\n"
                              "fn=(4)\n"
                              "0 5 800 1\n"
                              "\n"
                              "totals: 95 5800 4\n");
    free(text);
}

static void merged_threads_are_one_part(void **state)
{
    char *text = grind(true);

    (void)state;
    assert_non_null(strstr(text, "desc: Trigger: all threads of 1 process\n"));
    assert_non_null(strstr(text, "summary: 5800 4\n"));
    assert_null(strstr(text, "thread:"));
    assert_null(strstr(text, "part: 2"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_is_a_part),
        cmocka_unit_test(merged_threads_are_one_part),
        cmocka_unit_test(instructions_are_the_first_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
