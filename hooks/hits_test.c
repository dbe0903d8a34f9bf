/* Samples one by one: which of very many are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "hooks/hits.h"
#include "hooks/session.h"

#include <cmocka.h>

#define MOST_BLOCKS 2048

struct session session;
static char trace[MOST_BLOCKS * TRACE_BLOCK_SIZE] __attribute__((aligned(4096)));
static uint32_t block_count, block_limit;
static struct trace_thread entry = {.ordinal = 7};
static struct thread thread;
static struct trace_node *const node = (struct trace_node *)(trace + 5 * TRACE_UNIT);

struct trace_block *session_block(uint32_t ordinal)
{
    struct trace_block *block;

    if (block_count == block_limit)
        return NULL;
    block = (struct trace_block *)(trace + block_count++ * TRACE_BLOCK_SIZE);
    block->thread = ordinal;
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

static int begin(void **state)
{
    (void)state;
    memset(trace, 0, sizeof(trace));
    thread = (struct thread){.entry = &entry};
    block_count = 1; /* the node's */
    block_limit = MOST_BLOCKS;
    return 0;
}

/* Number n that was kept. */
static const struct trace_hit *hit_at(uint32_t n)
{
    const struct trace_block *block =
        (const struct trace_block *)(trace +
                                     (1 + n / TRACE_IN_BLOCK(struct trace_hit)) * TRACE_BLOCK_SIZE);

    assert_int_equal(block->kind, TRACE_BLOCK_HITS);
    assert_int_equal(block->thread, 7);
    return (const struct trace_hit *)(block + 1) + n % TRACE_IN_BLOCK(struct trace_hit);
}

static void a_hit_says_where_and_when(void **state)
{
    (void)state;
    hits_add(&thread, node, 0x401000, 1000000);
    assert_int_equal(thread.hits.records.count, 1);
    assert_int_equal(hit_at(0)->node, 5);
    assert_int_equal(hit_at(0)->instruction, 0x401000);
    assert_int_equal(hit_at(0)->ns, 1000000);
    assert_true(hit_at(0)->ticks && !(hit_at(0)->ticks & TRACE_TICK_FLAG));
}

static void many_are_further_apart_and_lose_no_time(void **state)
{
    uint64_t all = 0, kept = 0;

    (void)state;
    for (uint32_t i = 0; i < 65536 * 4; i++) {
        hits_add(&thread, node, i, 10 + i % 7);
        all += 10 + i % 7;
    }
    /* Each of the first 65,536, every second of twice as many, every fourth of the rest. */
    assert_int_equal(thread.hits.records.count, 65536 + 65536 + 65536 / 4);
    assert_int_equal(hit_at(65535)->instruction, 65535);
    assert_int_equal(hit_at(65536)->instruction, 65537);
    assert_int_equal(hit_at(131072)->instruction, 65536 * 3 + 3);
    for (uint32_t n = 0; n < thread.hits.records.count; n++)
        kept += hit_at(n)->ns;
    assert_int_equal(kept, all);
}

static void a_full_trace_keeps_no_more(void **state)
{
    (void)state;
    block_limit = 2;
    for (uint32_t i = 0; i < 1000; i++)
        hits_add(&thread, node, i, 10);
    assert_int_equal(thread.hits.records.count, TRACE_IN_BLOCK(struct trace_hit));
}

static void a_long_time_is_the_longest_there_is(void **state)
{
    (void)state;
    hits_add(&thread, node, 0x401000, 1ull << 40);
    assert_int_equal(hit_at(0)->ns, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_hit_says_where_and_when, begin),
        cmocka_unit_test_setup(many_are_further_apart_and_lose_no_time, begin),
        cmocka_unit_test_setup(a_full_trace_keeps_no_more, begin),
        cmocka_unit_test_setup(a_long_time_is_the_longest_there_is, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
