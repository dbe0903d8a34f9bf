/* Which node a call's context is, and what is below which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "hooks/tree.h"

#include <cmocka.h>

#define MOST_BLOCKS 64
#define CODE        0x400000u /* where a file's code is, up to GENERATED */
#define GENERATED   0x800000u

enum { MAIN = 1, PARSE, PRINT };

struct session session;
static char trace[MOST_BLOCKS * TRACE_BLOCK_SIZE] __attribute__((aligned(4096)));
static uint32_t block_count;
static struct thread thread;
static struct trace_header header;

struct trace_block *session_block(uint32_t ordinal)
{
    struct trace_block *block = (struct trace_block *)(trace + block_count * TRACE_BLOCK_SIZE);

    assert_true(block_count++ < MOST_BLOCKS);
    block->thread = ordinal;
    block->used = 1;
    return block;
}

void block_commit(struct trace_block *block, enum trace_block_kind kind)
{
    block->kind = kind;
}

uint32_t trace_index(const void *unit)
{
    return (uint32_t)(((const char *)unit - trace) / TRACE_UNIT);
}

bool modules_hold(uint64_t address)
{
    return address >= CODE && address < GENERATED;
}

uint64_t system_address_limit(void)
{
    return UINT64_MAX;
}

static struct trace_node *child(struct trace_node *caller, uint64_t site, uint32_t function)
{
    struct trace_node *node = tree_child(&thread, caller, site, function);

    assert_non_null(node);
    assert_ptr_equal(tree_child(&thread, caller, site, function), node);
    return node;
}

static int begin(void **state)
{
    (void)state;
    memset(trace, 0, sizeof(trace));
    memset(&header, 0, sizeof(header));
    memset(&thread, 0, sizeof(thread));
    session = (struct session){
        .header = &header, .trace = trace, .capacity = 1u << 30, .node_limit = 1000};
    block_count = 1; /* the header's */
    return !tree_begin(&thread, 1);
}

static void what_is_called_from_two_places_has_one_context_below(void **state)
{
    struct trace_node *parse = child(thread.root, CODE, PARSE);
    struct trace_node *first = child(parse, CODE + 10, PRINT),
                      *second = child(parse, CODE + 20, PRINT);

    (void)state;
    assert_ptr_not_equal(first, second);
    assert_int_equal(first->context, trace_index(first));
    assert_int_equal(second->context, trace_index(first));
    assert_int_equal(second->parent, trace_index(parse));
    assert_ptr_equal(child(first, CODE + 30, MAIN), child(second, CODE + 30, MAIN));
    assert_int_equal(child(second, CODE + 30, MAIN)->parent, trace_index(first));
}

static void a_recursion_from_two_places_is_as_large_as_it_is_deep(void **state)
{
    struct trace_node *node = child(thread.root, CODE, PARSE);

    (void)state;
    for (int depth = 0; depth < 100; depth++) {
        child(node, CODE + 10, PARSE);
        node = child(node, CODE + 20, PARSE);
    }
    assert_int_equal(thread.entry->nodes, 1 + 2 * 100);
    assert_int_equal(thread.entry->folded, 0);
}

static void jumps_and_calls_have_contexts_of_their_own(void **state)
{
    struct trace_node *parse = child(thread.root, CODE, PARSE);
    struct trace_node *call = child(parse, CODE + 10, PRINT);
    struct trace_node *jump = child(parse, TRACE_SITE_TAIL | (CODE + 10), PRINT);

    (void)state;
    assert_int_equal(call->context, trace_index(call));
    assert_int_equal(jump->context, trace_index(jump));
    assert_int_equal(child(parse, TRACE_SITE_TAIL | (CODE + 20), PRINT)->context,
                     trace_index(jump));
}

/* Whose code that is the reader finds by the place. */
static void places_in_code_made_at_run_time_stay_apart(void **state)
{
    struct trace_node *parse = child(thread.root, CODE, PARSE);
    struct trace_node *first = child(parse, GENERATED + 10, PRINT),
                      *second = child(parse, GENERATED + 20, PRINT),
                      *third = child(parse, CODE + 20, PRINT);

    (void)state;
    assert_int_equal(first->context, trace_index(first));
    assert_int_equal(second->context, trace_index(second));
    assert_int_equal(third->context, trace_index(third));
}

static void callees_of_other_callers_are_others(void **state)
{
    struct trace_node *parse = child(thread.root, CODE, PARSE);
    struct trace_node *print = child(thread.root, CODE + 10, PRINT);

    (void)state;
    assert_int_equal(child(parse, CODE + 20, MAIN)->context,
                     trace_index(child(parse, CODE + 20, MAIN)));
    assert_int_equal(child(print, CODE + 30, MAIN)->context,
                     trace_index(child(print, CODE + 30, MAIN)));
}

static void at_the_limit_contexts_are_folded(void **state)
{
    struct trace_node *parse = child(thread.root, CODE, PARSE), *first, *second, *below;

    (void)state;
    first = child(parse, CODE + 10, PRINT);
    second = child(parse, CODE + 20, PRINT);
    thread.node_limit = thread.entry->nodes;
    below = child(second, CODE + 30, MAIN);
    assert_int_equal(first->context, trace_index(first));
    assert_int_not_equal(second->context, trace_index(first));
    assert_int_equal(below->parent, second->context);
    assert_int_not_equal(below->context, trace_index(below));
}

/* The table has what is first of several places twice, and grows. */
static void thousands_of_contexts_are_found_again(void **state)
{
    enum { FUNCTIONS = 600 };

    (void)state;
    thread.node_limit = 4 * FUNCTIONS;
    for (uint32_t function = 1; function <= FUNCTIONS; function++)
        for (uint64_t place = 1; place <= 3; place++)
            child(thread.root, CODE + place, function);
    assert_int_equal(thread.entry->nodes, 3 * FUNCTIONS);
    for (uint32_t function = 1; function <= FUNCTIONS; function++)
        for (uint64_t place = 1; place <= 3; place++)
            assert_int_equal(child(thread.root, CODE + place, function)->context,
                             trace_index(child(thread.root, CODE + 1, function)));
    assert_int_equal(thread.entry->nodes, 3 * FUNCTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_called_from_two_places_has_one_context_below, begin),
        cmocka_unit_test_setup(a_recursion_from_two_places_is_as_large_as_it_is_deep, begin),
        cmocka_unit_test_setup(jumps_and_calls_have_contexts_of_their_own, begin),
        cmocka_unit_test_setup(places_in_code_made_at_run_time_stay_apart, begin),
        cmocka_unit_test_setup(callees_of_other_callers_are_others, begin),
        cmocka_unit_test_setup(at_the_limit_contexts_are_folded, begin),
        cmocka_unit_test_setup(thousands_of_contexts_are_found_again, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
