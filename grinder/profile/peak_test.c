/* What a chain of a trace is made into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/profile/peak.h"
#include "grinder/profile/tree_load.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

#define MODULE_FUNCTIONS 9

/* A thread whose contexts are of the functions that a string has the digits of, each called from
   the one before, each with 8 * its digit bytes. */
#define WORD 8 /* bytes: frames have as many words as their function's number */

struct built {
    struct trace_sample sample;
    struct trace_stack *stack;
    uint32_t nodes[128], depths[128], count;
    struct images images;
    struct tree tree;
    struct chains chains;
    struct peak *peaks;
};

static void build(struct built *built, const char *functions)
{
    struct trace_sample *sample = &built->sample;
    uint32_t parent, depth = 100;

    memset(built, 0, sizeof(*built));
    trace_sample_begin(sample, 77, "./program");
    trace_sample_add_module(sample, "/no/such/program", 0x400000, 0x10000, 1, MODULE_FUNCTIONS, 7);
    trace_sample_add_thread(sample, "main");
    trace_sample_add_thread(sample, "silent");
    parent = trace_sample_thread(sample, 1)->root;
    for (const char *function = functions; *function; function++) {
        uint32_t number = (uint32_t)(*function - '0');
        parent = trace_sample_add_node(sample, 1, parent, 0x400100, number, 1, 1000);
        built->nodes[built->count] = parent;
        built->depths[built->count++] = depth * WORD / STACK_DEPTH_UNIT;
        depth += number;
    }
    built->stack = trace_sample_add_stack(sample, 1, built->depths, built->nodes, built->count);
}

static struct trace_stack_entry *entries_of(struct built *built)
{
    return (struct trace_stack_entry *)(built->stack + 1);
}

static const struct peak *grind(struct built *built, struct selection *selection)
{
    struct failure failure;
    char path[64];
    int fd = trace_sample_open(&built->sample, path);
    struct trace_file file;

    images_begin(&built->images);
    assert_true(trace_file_open(&file, path, &failure));
    assert_true(chains_read(&built->chains, &file, &failure));
    assert_true(tree_load(&built->tree, &file, &built->images, &failure));
    trace_file_close(&file);
    close(fd);
    built->peaks = peaks_of(&built->chains, &built->tree, &built->images, selection);
    return built->peaks;
}

static void end(struct built *built)
{
    peaks_free(built->peaks, built->tree.thread_count);
    chains_free(&built->chains);
    tree_free(&built->tree);
    images_free(&built->images);
    trace_sample_free(&built->sample);
}

static uint32_t function_of(const struct built *built, char digit)
{
    for (uint32_t i = 1; i < images_function_count(&built->images); i++)
        if (built->images.functions[i].index == (uint32_t)(digit - '1'))
            return i;
    return 0;
}

static void assert_sum(const struct peak *peak)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < peak->row_count; i++)
        sum += peak->rows[i].bytes;
    assert_int_equal(sum, peak->bytes);
}

static void assert_calls(const struct built *built, const struct peak_row *row, char function,
                         uint32_t calls, uint64_t bytes, uint32_t cycle)
{
    assert_int_equal(row->kind, PEAK_CALLS);
    assert_int_equal(row->function, function_of(built, function));
    assert_int_equal(row->calls, calls);
    assert_int_equal(row->bytes, bytes);
    assert_int_equal(row->cycle, cycle);
}

static void calls_of_one_function_are_a_row(void **state)
{
    struct built built;
    const struct peak *peak;

    (void)state;
    build(&built, "122223");
    peak = grind(&built, NULL);
    assert_true(peak->is_known && peak->is_shown);
    assert_int_equal(peak->bytes, 8 * (100 + 1 + 4 * 2));
    assert_int_equal(peak->size, 8 << 20);
    assert_int_equal(peak->row_count, 4);
    assert_int_equal(peak->rows[0].kind, PEAK_BEFORE);
    assert_int_equal(peak->rows[0].bytes, 800);
    assert_calls(&built, &peak->rows[1], '1', 1, 8, 0);
    assert_calls(&built, &peak->rows[2], '2', 4, 64, 0);
    assert_calls(&built, &peak->rows[3], '3', 1, 0, 0);
    assert_true(built.peaks[1].is_shown && !built.peaks[1].is_known);
    end(&built);
}

static void functions_that_call_each_other_in_turn_are_joined(void **state)
{
    struct built built;
    const struct peak *peak;

    (void)state;
    build(&built, "12344234423456");
    peak = grind(&built, NULL);
    assert_int_equal(peak->row_count, 7);
    assert_calls(&built, &peak->rows[2], '2', 3, 3 * 16, 3);
    assert_calls(&built, &peak->rows[3], '3', 3, 3 * 24, 0);
    assert_calls(&built, &peak->rows[4], '4', 5, 5 * 32, 0);
    assert_calls(&built, &peak->rows[5], '5', 1, 40, 0);
    assert_calls(&built, &peak->rows[6], '6', 1, 0, 0);
    assert_sum(peak);
    end(&built);
}

static uint64_t link_again(struct built *built, uint32_t count)
{
    struct trace_stack_entry *entries = entries_of(built);
    uint32_t check = 0;

    for (uint32_t i = 0; i < count; i++)
        entries[i].check = check = stack_check(check, &entries[i]);
    built->stack->chain = (uint64_t)check << 32 | count;
    return check;
}

static void a_chain_cut_before_its_end_is_said_to_be(void **state)
{
    struct built built;
    const struct peak *peak;

    (void)state;
    build(&built, "12345");
    link_again(&built, 2);
    peak = grind(&built, NULL);
    assert_int_equal(peak->row_count, 4);
    assert_calls(&built, &peak->rows[2], '2', 1, 0, 0);
    assert_int_equal(peak->rows[3].kind, PEAK_UNKNOWN);
    assert_int_equal(peak->rows[3].calls, 0);
    assert_sum(peak);
    end(&built);
}

static void a_chain_whose_outer_calls_changed_begins_where_it_is_sure(void **state)
{
    struct built built;
    const struct peak *peak;

    (void)state;
    build(&built, "12345");
    entries_of(&built)[1].node = 9;
    peak = grind(&built, NULL);
    assert_int_equal(peak->rows[0].bytes, 0);
    assert_int_equal(peak->rows[1].kind, PEAK_UNKNOWN);
    assert_int_equal(peak->rows[1].calls, 2);
    assert_int_equal(peak->rows[1].bytes, 8 * (100 + 1 + 2));
    assert_calls(&built, &peak->rows[2], '3', 1, 24, 0);
    assert_sum(peak);
    end(&built);
}

static void nodes_and_depths_out_of_order_do_no_harm(void **state)
{
    struct built built;
    const struct peak *peak;

    (void)state;
    build(&built, "12345");
    entries_of(&built)[1].node = UINT32_MAX;
    entries_of(&built)[2].depth = 7;
    entries_of(&built)[3].depth = UINT32_MAX;
    link_again(&built, 5);
    peak = grind(&built, NULL);
    assert_int_equal(peak->rows[2].function, 0);
    assert_int_equal(peak->row_count, 4);
    assert_sum(peak);
    end(&built);
}

static void a_call_that_was_ending_is_passed_over(void **state)
{
    struct built built;
    const struct peak *peak;

    (void)state;
    build(&built, "123");
    entries_of(&built)[1].depth = 0;
    link_again(&built, 3);
    peak = grind(&built, NULL);
    assert_int_equal(peak->row_count, 3);
    assert_calls(&built, &peak->rows[1], '1', 1, 24, 0);
    assert_calls(&built, &peak->rows[2], '3', 1, 0, 0);
    assert_sum(peak);
    end(&built);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_one_function_are_a_row),
        cmocka_unit_test(functions_that_call_each_other_in_turn_are_joined),
        cmocka_unit_test(a_chain_cut_before_its_end_is_said_to_be),
        cmocka_unit_test(a_chain_whose_outer_calls_changed_begins_where_it_is_sure),
        cmocka_unit_test(nodes_and_depths_out_of_order_do_no_harm),
        cmocka_unit_test(a_call_that_was_ending_is_passed_over),
    };

    return cmocka_run_group_tests_name("peak", tests, NULL, NULL);
}
