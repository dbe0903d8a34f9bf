/* Contexts of calls from several places are one, which has the figures of each place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/test_traces/ground_sample.h"

#include <cmocka.h>

enum { MAIN = 1, PARSE, PRINT, FIB };

static struct trace_sample sample;
static struct ground ground;

static uint32_t add(uint32_t parent, uint64_t site, uint32_t function, uint64_t calls,
                    uint64_t ticks)
{
    return trace_sample_add_node(&sample, 1, parent, site, function, calls, ticks);
}

/* `node` has what it calls below `first`. */
static void below_first(uint32_t node, uint32_t first)
{
    trace_sample_node(&sample, node)->context = first;
}

/* A thread whose main was called once; returns main's node. */
static uint32_t begin(void)
{
    trace_sample_begin(&sample, 7, "./program");
    trace_sample_add_thread(&sample, "main");
    return add(trace_sample_thread(&sample, 1)->root, 0, MAIN, 1, 1000);
}

static void expect(struct costs found, uint64_t calls, uint64_t self_ns, uint64_t total_ns)
{
    assert_int_equal(found.calls, calls);
    assert_int_equal(found.self_ns, self_ns);
    assert_int_equal(found.total_ns, total_ns);
}

static const struct tree_site *site_of(const struct tree *tree, uint64_t address)
{
    for (size_t i = 0; i < tree->site_count; i++)
        if (tree->sites[i].site == address)
            return &tree->sites[i];
    return NULL;
}

static void places_are_one_context(void **state)
{
    uint32_t main_node = begin(), first = add(main_node, 10, PARSE, 5, 600);
    uint32_t second = add(main_node, 20, PARSE, 3, 200), third = add(main_node, 30, PARSE, 1, 100);

    (void)state;
    below_first(second, first);
    below_first(third, first);
    add(first, 40, PRINT, 9, 300);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, MAIN), 1, 100, 1000);
    expect(ground_function(&ground, 0, PARSE), 9, 600, 900);
    expect(ground_edge(&ground, 0, PARSE, PRINT), 9, 300, 300);
    assert_int_equal(ground.profile.processes[0].threads[0].entries, 19);
    assert_true(ground.profile.processes[0].threads[0].balanced);
    ground_free(&ground);
}

static void read_tree(struct tree *tree)
{
    struct failure failure;
    struct trace_file file;

    ground_begin(&ground, &sample, false);
    if (!trace_file_open(&file, ground.path, &failure) ||
        !tree_read(tree, &file, &ground.images, &failure))
        fail_msg("%s", failure.text);
    trace_file_close(&file);
}

static void end(struct tree *tree)
{
    tree_free(tree);
    ground_free(&ground);
}

static void each_place_keeps_its_calls_and_times(void **state)
{
    uint32_t main_node = begin(), first = add(main_node, 10, PARSE, 5, 600);
    struct tree tree;

    (void)state;
    below_first(add(main_node, 20, PARSE, 3, 200), first);
    read_tree(&tree);
    assert_int_equal(tree.site_count, 2);
    assert_int_equal(site_of(&tree, 10)->calls, 5);
    assert_true(site_of(&tree, 10)->ticks == 600);
    assert_int_equal(site_of(&tree, 20)->calls, 3);
    assert_true(site_of(&tree, 20)->ticks == 200);
    assert_int_equal(site_of(&tree, 20)->slot, site_of(&tree, 10)->slot);
    assert_int_equal(tree.committed, 3); /* the root, main, parse */
    assert_int_equal(tree.threads[0].contexts, 3);
    end(&tree);
}

/* The edge of calls that were made at so many bytes from the module's begin. */
static struct costs edge_at(const struct part *part, uint32_t rva)
{
    struct costs none = {0};

    for (size_t i = 0; i < part->edges.keys.count; i++)
        if ((uint32_t)part->edges.keys.pairs[i].b == rva - 1)
            return part->edges.costs[i];
    return none;
}

/* What calls from there took, and not a part by their number. */
static void edges_have_the_times_of_their_places(void **state)
{
    uint32_t main_node = begin(), first = add(main_node, 0x1010, PARSE, 9, 100);

    (void)state;
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 1, 100, 5);
    below_first(add(main_node, 0x1020, PARSE, 1, 800), first);
    add(first, 0x1040, PRINT, 9, 450);
    ground_begin(&ground, &sample, false);
    expect(edge_at(&ground.profile.parts[0], 0x10), 9, 50, 100);
    expect(edge_at(&ground.profile.parts[0], 0x20), 1, 400, 800);
    expect(edge_at(&ground.profile.parts[0], 0x40), 9, 450, 450);
    ground_free(&ground);
}

/* A jump's place is not its caller's. */
static void jumps_stay_apart_from_calls(void **state)
{
    uint32_t main_node = begin(), first = add(main_node, 10, PARSE, 5, 600);
    uint32_t jump = add(main_node, TRACE_SITE_TAIL | 10, PARSE, 3, 200);
    struct tree tree;

    (void)state;
    below_first(jump, first);
    read_tree(&tree);
    assert_int_equal(tree.site_count, 0);
    assert_int_equal(tree.contexts[tree.threads[0].root].first_child, 2);
    assert_int_equal(tree.committed, 4);
    end(&tree);
}

/* The slot of a context with that many calls. */
static uint32_t context_of(const struct tree *tree, uint64_t calls)
{
    for (uint32_t slot = 1; slot < tree->context_count; slot++)
        if (tree->contexts[slot].calls == calls)
            return slot;
    return 0;
}

static void places_have_their_instructions_together(void **state)
{
    uint32_t main_node = begin(), first = add(main_node, 10, PARSE, 5, 600);
    uint32_t second = add(main_node, 20, PARSE, 3, 200);
    struct tree tree;

    (void)state;
    below_first(second, first);
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 100, 1, 5);
    trace_sample_count_modules(&sample);
    trace_sample_add_instructions(&sample, first, 70);
    trace_sample_add_instructions(&sample, second, 8);
    trace_sample_add_instructions(&sample, main_node, 900);
    read_tree(&tree);
    assert_true(tree.counts_instructions);
    assert_int_equal(tree.contexts[context_of(&tree, 1)].instructions, 900);
    assert_int_equal(tree.contexts[context_of(&tree, 8)].instructions, 78);
    end(&tree);
}

/* Calls from places that links counted have their part of the instructions, as of the calls. */
static void edges_share_instructions_by_their_calls(void **state)
{
    uint32_t main_node = begin(), first = add(main_node, 0x1010, PARSE, 6, 0);

    (void)state;
    trace_sample_header(&sample)->timing = TRACE_TIMING_NONE;
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 1, 100, 5);
    trace_sample_count_modules(&sample);
    below_first(add(main_node, 0x1020, PARSE, 3, 0), first);
    trace_sample_add_instructions(&sample, first, 100);
    trace_sample_add_instructions(&sample, add(first, 0x1040, PRINT, 9, 0), 20);
    ground_begin(&ground, &sample, false);
    assert_int_equal(edge_at(&ground.profile.parts[0], 0x10).self_instructions, 66);
    assert_int_equal(edge_at(&ground.profile.parts[0], 0x20).self_instructions, 34);
    assert_int_equal(edge_at(&ground.profile.parts[0], 0x10).total_instructions, 80);
    assert_int_equal(edge_at(&ground.profile.parts[0], 0x20).total_instructions, 40);
    assert_int_equal(edge_at(&ground.profile.parts[0], 0x40).total_instructions, 20);
    assert_int_equal(ground.profile.parts[0].instructions, 120);
    ground_free(&ground);
}

static void modules_may_not_be_counted(void **state)
{
    struct tree tree;

    (void)state;
    begin();
    trace_sample_add_module(&sample, "/nowhere/program", 0x1000, 0x1000, 1, 100, 5);
    read_tree(&tree);
    assert_false(tree.counts_instructions);
    assert_false(profile_has_instructions(&ground.profile));
    end(&tree);
}

/* What a damaged trace may say: the context of other calls, itself by way of another, nowhere. */
static void what_cannot_be_a_place_is_left_out(void **state)
{
    uint32_t main_node = begin(), parse = add(main_node, 10, PARSE, 5, 600);
    uint32_t a = add(main_node, 20, PRINT, 1, 1), b = add(main_node, 30, PRINT, 1, 1);

    (void)state;
    below_first(add(main_node, 40, FIB, 1, 1), parse);  /* of another function */
    below_first(add(parse, 50, PARSE, 1, 1), parse);    /* of another caller */
    below_first(add(main_node, 60, PARSE, 1, 1), 9999); /* of none */
    below_first(a, b);
    below_first(b, a);
    ground_begin(&ground, &sample, false);
    expect(ground_function(&ground, 0, PARSE), 5, 600, 600);
    expect(ground_function(&ground, 0, PRINT), 0, 0, 0);
    expect(ground_function(&ground, 0, FIB), 0, 0, 0);
    assert_int_equal(ground.profile.processes[0].threads[0].entries, 1 + 5 + 1 + 1 + 1 + 1 + 1);
    ground_free(&ground);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_one_context),
        cmocka_unit_test(each_place_keeps_its_calls_and_times),
        cmocka_unit_test(edges_have_the_times_of_their_places),
        cmocka_unit_test(jumps_stay_apart_from_calls),
        cmocka_unit_test(places_have_their_instructions_together),
        cmocka_unit_test(edges_share_instructions_by_their_calls),
        cmocka_unit_test(modules_may_not_be_counted),
        cmocka_unit_test(what_cannot_be_a_place_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
