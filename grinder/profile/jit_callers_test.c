#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grinder/profile/profile.h"
#include "grinder/profile/symbolize.h"
#include "grinder/profile/tree_load.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

enum { INVOKE = 1, READ, THROW };

static struct trace_sample sample;
static struct images images;
static struct profile profile;
static struct tree_node *nodes;
static uint32_t root;

static void begin(void)
{
    trace_sample_begin(&sample, 7, "./program");
    trace_sample_add_thread(&sample, "main");
    root = trace_sample_thread(&sample, 1)->root;
}

static uint32_t add(uint32_t parent, uint64_t site, uint32_t function, uint64_t calls,
                    uint64_t ticks)
{
    return trace_sample_add_node(&sample, 1, parent, site, function, calls, ticks);
}

/* rounds: 1000 to 1010, fails: 2000 to 2010. A call site is one behind its call's last byte. */
static void grind(const char *text)
{
    char trace[64], map[64];
    const char *const maps[] = {map, NULL}, *const none[] = {NULL};
    int fd = trace_sample_open(&sample, trace), map_fd = memfd_create("map", 0);
    struct failure failure;
    struct tree tree;
    size_t count;

    assert_int_equal(write(map_fd, text, strlen(text)), strlen(text));
    snprintf(map, sizeof(map), "/proc/self/fd/%d", map_fd);
    images_begin(&images);
    images.jit_maps = maps;
    profile = (struct profile){0};
    assert_true(tree_load_path(&tree, trace, &images, &failure));
    profile_add(&profile, &tree, &images);
    nodes = tree_nodes(&tree, &count);
    tree_free(&tree);
    symbolize(&images, &profile, none);
    close(fd);
    close(map_fd);
    trace_sample_free(&sample);
    assert_int_equal(profile.processes[0].lost_contexts, 0);
}

#define MAP "1000 10 rounds\n2000 10 fails\n"

static void end(void)
{
    free(nodes);
    profile_free(&profile);
    images_free(&images);
}

/* unknown!#2 is what function 2 of the trace is called; "" is any. */
static struct costs edge(const char *caller, const char *callee)
{
    const struct cost_table *edges = &profile.parts[0].edges;
    struct costs sum = {0};

    for (size_t i = 0; i < edges->keys.count; i++) {
        uint64_t pair = edges->keys.pairs[i].a;
        if ((*caller && strcmp(images.functions[pair >> 32].name, caller) != 0) ||
            (*callee && strcmp(images.functions[(uint32_t)pair].name, callee) != 0))
            continue;
        sum.calls += edges->costs[i].calls;
        sum.total_ns += edges->costs[i].total_ns;
        sum.total_calls += edges->costs[i].total_calls;
    }
    return sum;
}

static struct costs function(const char *name)
{
    const struct cost_table *functions = &profile.parts[0].functions;

    for (size_t i = 0; i < functions->keys.count; i++)
        if (!strcmp(images.functions[functions->keys.pairs[i].a].name, name))
            return functions->costs[i];
    return (struct costs){0};
}

static void expect(struct costs found, uint64_t calls, uint64_t total_ns, uint64_t total_calls)
{
    assert_int_equal(found.calls, calls);
    assert_int_equal(found.total_ns, total_ns);
    assert_int_equal(found.total_calls, total_calls);
}

static void code_comes_between_caller_and_callee(void **state)
{
    uint32_t invoke;

    (void)state;
    begin();
    invoke = add(root, 0x10, INVOKE, 1, 1000);
    add(invoke, 0x1004, READ, 5, 100);
    add(invoke, 0x1008, THROW, 2, 40);
    add(invoke, 0x2010, THROW, 3, 60); /* its call ends the code */
    add(invoke, 0x2000, READ, 1, 7);   /* its call is before it */
    grind(MAP);
    expect(edge("unknown!#1", "rounds"), 7, 140, 7);
    expect(edge("unknown!#1", "fails"), 3, 60, 3);
    expect(edge("rounds", "unknown!#2"), 5, 100, 5);
    expect(edge("rounds", "unknown!#3"), 2, 40, 2);
    expect(edge("fails", "unknown!#3"), 3, 60, 3);
    expect(edge("unknown!#1", "unknown!#2"), 1, 7, 1);
    expect(edge("unknown!#1", "unknown!#3"), 0, 0, 0);
    expect(function("rounds"), 0, 140, 7);
    assert_int_equal(function("rounds").self_ns, 0);
    assert_int_equal(function("unknown!#1").self_ns, 793);
    assert_int_equal(profile.parts[0].ns, 1000);
    assert_int_equal(profile.parts[0].calls, 12);
    end();
}

/* Events have the nodes that were recorded, and no others. */
static void nodes_know_the_code_that_called_them(void **state)
{
    uint32_t invoke, read, again;

    (void)state;
    begin();
    invoke = add(root, 0x10, INVOKE, 1, 1000);
    read = add(invoke, 0x1004, READ, 5, 100);
    again = add(invoke, 0x2000, READ, 1, 7);
    grind(MAP);
    assert_int_equal(nodes[0].function, 0);
    assert_int_equal(nodes[0].caller, 0);
    assert_int_equal(nodes[read].parent, invoke);
    assert_string_equal(images.functions[nodes[read].caller].name, "rounds");
    assert_int_equal(nodes[again].parent, invoke);
    assert_int_equal(nodes[again].caller, 0);
    assert_int_equal(nodes[invoke].parent, root);
    end();
}

/* rounds calls Invoke, which enters rounds again: inclusive time counts once. */
static void recursion_through_code_counts_once(void **state)
{
    uint32_t invoke, again;

    (void)state;
    begin();
    invoke = add(root, 0x10, INVOKE, 1, 1000);
    again = add(invoke, 0x1004, INVOKE, 5, 600);
    add(again, 0x1004, READ, 10, 100);
    grind(MAP);
    expect(edge("unknown!#1", "rounds"), 15, 600, 15);
    expect(edge("rounds", "unknown!#1"), 5, 0, 0);
    expect(edge("rounds", "unknown!#2"), 10, 100, 10);
    expect(function("rounds"), 0, 600, 15);
    assert_int_equal(profile.parts[0].ns, 1000);
    assert_int_equal(profile.parts[0].calls, 16);
    end();
}

static void tail_calls_stay_with_who_jumped(void **state)
{
    uint32_t invoke;

    (void)state;
    begin();
    invoke = add(root, 0x10, INVOKE, 1, 1000);
    add(invoke, 0x1004 | TRACE_SITE_TAIL, READ, 5, 100);
    grind(MAP);
    expect(edge("unknown!#1", "unknown!#2"), 5, 100, 5);
    expect(edge("", "rounds"), 0, 0, 0);
    end();
}

static void folded_calls_have_their_code_too(void **state)
{
    uint32_t invoke_fold, read_fold, node;

    (void)state;
    begin();
    invoke_fold = trace_sample_add_fold(&sample, 1, INVOKE);
    read_fold = trace_sample_add_fold(&sample, 1, READ);
    node = add(root, 0x10, INVOKE, 1, 1000);
    trace_sample_node(&sample, node)->context = invoke_fold;
    node = add(invoke_fold, 0x1004, READ, 5, 100);
    trace_sample_node(&sample, node)->context = read_fold;
    grind(MAP);
    expect(edge("unknown!#1", "rounds"), 5, 100, 5);
    expect(edge("rounds", "unknown!#2"), 5, 100, 5);
    assert_int_equal(profile.parts[0].ns, 1000);
    assert_int_equal(profile.parts[0].calls, 6);
    end();
}

static void a_map_that_cannot_be_read_costs_names_only(void **state)
{
    uint32_t invoke;

    (void)state;
    begin();
    invoke = add(root, 0x10, INVOKE, 1, 1000);
    add(invoke, 0x1004, READ, 5, 100);
    grind("DTiJ\1\0\0\0"); /* and no more of a header */
    expect(edge("unknown!#1", "unknown!#2"), 5, 100, 5);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_comes_between_caller_and_callee),
        cmocka_unit_test(nodes_know_the_code_that_called_them),
        cmocka_unit_test(recursion_through_code_counts_once),
        cmocka_unit_test(tail_calls_stay_with_who_jumped),
        cmocka_unit_test(folded_calls_have_their_code_too),
        cmocka_unit_test(a_map_that_cannot_be_read_costs_names_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
