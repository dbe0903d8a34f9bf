/* Live calls found again in a stack, its shadow and a stash that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/frames.h"
#include "hooks/links.h"
#include "hooks/live_calls.h"
#include "hooks/tree.h"
#include "thunkstash/linux/linux_pages.h"

#include <cmocka.h>

#define WORDS 512
#define HIGH  ((uint64_t)(stack + WORDS))

/* The agent's linker script reserves the range; here it is ordinary memory. */
char umbra_stash[STASH_RANGE_SIZE] __attribute__((aligned(4096)));

static uint64_t stack[WORDS], shadow[WORDS];
static struct trace_node nodes[32];
static struct trace_links links[32];
static uint32_t node_count;
static struct thread thread;

uint32_t trace_index(const void *unit)
{
    return (uint32_t)((const struct trace_node *)unit - nodes);
}

struct trace_node *frame_context_at(const struct thread *with, uint64_t slot)
{
    uint64_t at = (slot - (uint64_t)stack) / sizeof(uint64_t);

    (void)with;
    for (uint32_t i = 1; i < node_count; i++)
        if (nodes[i].passed == shadow[at] && (nodes[i].site & TRACE_SITE_ADDRESS) == stack[at])
            return &nodes[i];
    return NULL;
}

bool frames_has_word(const struct thread *with, uint64_t slot)
{
    (void)with;
    return slot >= (uint64_t)stack && slot < HIGH;
}

bool links_is_leaf(const struct trace_node *node)
{
    return node->function & TRACE_FUNCTION_LEAF;
}

struct trace_node *tree_parent(const struct thread *with, const struct trace_node *node)
{
    (void)with;
    return &nodes[node->parent];
}

struct trace_node *tree_tail_caller(const struct thread *with, struct trace_node *node)
{
    return node->site & TRACE_SITE_TAIL ? tree_parent(with, node) : node;
}

static void no_exit(void)
{
}

static int prepare(void **state)
{
    (void)state;
    stash_set_exit_hook(no_exit);
    return stash_prepare(umbra_stash, pages_map_file("/proc/self/exe", 0, BLOCK_CODE_SIZE)) ? 0 : 1;
}

static int begin(void **state)
{
    (void)state;
    memset(stack, 0, sizeof(stack));
    memset(shadow, 0, sizeof(shadow));
    memset(nodes, 0, sizeof(nodes));
    memset(&thread, 0, sizeof(thread));
    node_count = 1;
    thread.root = nodes;
    thread.trace = (char *)nodes;
    assert_true(stash_begin(&thread.own, true, 1, nodes));
    return 0;
}

static int end(void **state)
{
    (void)state;
    stash_release(&thread.own);
    return 0;
}

/* A context of a function that is copied, and calls others. */
static struct trace_node *context(struct trace_node *parent, uint64_t site)
{
    struct trace_node *node = &nodes[node_count];

    *node = (struct trace_node){.parent = trace_index(parent), .site = site};
    node->passed = (uint64_t)&links[node_count++];
    return node;
}

static uint64_t at(uint32_t word)
{
    return (uint64_t)&stack[word];
}

static void put_frame(uint32_t word, const struct trace_node *node)
{
    stack[word] = node->site & TRACE_SITE_ADDRESS;
    shadow[word] = node->passed;
}

static struct record *put_record(uint32_t word, struct trace_node *node)
{
    struct record *record = stash_push(&thread.own, NULL);

    assert_non_null(record);
    record->node = node;
    record->body = 1;
    record->slot = at(word) + SLOT_BIAS;
    stack[word] = record_thunk(record) + THUNK_RETURN;
    shadow[word] = node->passed;
    return record;
}

static void assert_goes_up(struct live_call *call, uint32_t word, const struct trace_node *node)
{
    live_call_go_up(&thread, call, 0);
    assert_ptr_equal(call->node, node);
    assert_int_equal(call->slot, at(word));
}

static void assert_ends(struct live_call *call)
{
    live_call_go_up(&thread, call, 0);
    assert_null(call->node);
}

static void frames_and_records_are_found_in_their_order(void **state)
{
    struct trace_node *f = context(nodes, 1), *g = context(f, 2), *h = context(g, 3),
                      *leaf = context(h, 4);
    struct live_call call;

    (void)state;
    put_frame(500, f);
    put_record(400, g);
    put_frame(300, h);
    call = live_call_of_frame(&thread, at(200), leaf);
    assert_goes_up(&call, 300, h);
    assert_null(call.record);
    assert_goes_up(&call, 400, g);
    assert_non_null(call.record);
    assert_goes_up(&call, 500, f);
    assert_ends(&call);
}

static void a_frame_that_has_a_record_is_one_call(void **state)
{
    struct trace_node *f = context(nodes, 1), *g = context(f, 2);
    struct live_call call;

    (void)state;
    put_frame(500, f);
    put_record(400, g);
    call = live_call_of_frame(&thread, at(400), g);
    assert_non_null(call.record);
    assert_goes_up(&call, 500, f);
    assert_ends(&call);
}

static void words_of_frames_that_are_gone_are_nobodys(void **state)
{
    struct trace_node *f = context(nodes, 1), *g = context(f, 2), *h = context(g, 3);
    struct live_call call;

    (void)state;
    put_frame(500, f);
    put_frame(450, g);
    put_frame(420, g); /* whose slot holds something else by now */
    stack[420] = 99;
    put_frame(410, context(f, 7)); /* another context */
    call = live_call_of_frame(&thread, at(400), h);
    assert_goes_up(&call, 450, g);
    assert_goes_up(&call, 500, f);
    assert_ends(&call);
}

/* What is called from there is below the first place that calls were made from. */
static void a_frame_may_be_of_calls_from_another_place(void **state)
{
    struct trace_node *f = context(nodes, 1), *first = context(f, 2), *second = context(f, 3),
                      *leaf = context(first, 4);
    struct live_call call;

    (void)state;
    first->context = trace_index(first);
    second->context = trace_index(first);
    put_frame(500, f);
    put_frame(450, second);
    call = live_call_of_frame(&thread, at(400), leaf);
    assert_goes_up(&call, 450, first);
    assert_goes_up(&call, 500, f);
    assert_ends(&call);
}

static void a_function_that_has_jumped_has_no_frame(void **state)
{
    struct trace_node *f = context(nodes, 1), *g = context(f, 2),
                      *h = context(g, 2 | TRACE_SITE_TAIL), *leaf = context(h, 4);
    struct live_call call;

    (void)state;
    put_frame(500, f);
    put_frame(450, h);
    call = live_call_of_frame(&thread, at(400), leaf);
    assert_goes_up(&call, 450, h);
    assert_goes_up(&call, 500, f);
    assert_ends(&call);
}

static void whose_frame_is_not_there_is_left_out(void **state)
{
    struct trace_node *f = context(nodes, 1), *g = context(f, 2), *h = context(g, 3);
    struct live_call call;

    (void)state;
    put_record(500, f);
    call = live_call_of_frame(&thread, at(400), h);
    assert_goes_up(&call, 500, f);
    assert_ends(&call);
}

static void a_likely_place_is_looked_at_first(void **state)
{
    struct trace_node *f = context(nodes, 1), *g = context(f, 2);
    struct live_call call;

    (void)state;
    put_frame(450, f);
    put_frame(500, f);
    call = live_call_of_frame(&thread, at(400), g);
    live_call_go_up(&thread, &call, at(500));
    assert_int_equal(call.slot, at(500));
    call = live_call_of_frame(&thread, at(400), g);
    live_call_go_up(&thread, &call, at(480));
    assert_int_equal(call.slot, at(450));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_and_records_are_found_in_their_order, begin, end),
        cmocka_unit_test_setup_teardown(a_frame_that_has_a_record_is_one_call, begin, end),
        cmocka_unit_test_setup_teardown(words_of_frames_that_are_gone_are_nobodys, begin, end),
        cmocka_unit_test_setup_teardown(a_frame_may_be_of_calls_from_another_place, begin, end),
        cmocka_unit_test_setup_teardown(a_function_that_has_jumped_has_no_frame, begin, end),
        cmocka_unit_test_setup_teardown(whose_frame_is_not_there_is_left_out, begin, end),
        cmocka_unit_test_setup_teardown(a_likely_place_is_looked_at_first, begin, end),
    };

    return cmocka_run_group_tests_name("live_calls", tests, prepare, NULL);
}
