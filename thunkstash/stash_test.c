#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/stash.h"

#include <cmocka.h>

/* The agent's linker script reserves the range; here it is ordinary memory. */
char umbra_stash[STASH_RANGE_SIZE] __attribute__((aligned(4096)));

static struct trace_node *const root = (struct trace_node *)0x1000;

static void no_exit(void)
{
}

static int prepare(void **state)
{
    void *code = pages_map_file("/proc/self/exe", 0, BLOCK_CODE_SIZE);

    (void)state;
    stash_set_exit_hook(no_exit);
    return stash_prepare(umbra_stash, code) ? 0 : 1;
}

static void begin(struct stash *stash, bool ordered)
{
    assert_true(stash_begin(stash, ordered, 1, root));
}

/* Parked records are over whose slots lie from here on upwards. */
static uint64_t over;
static uint32_t asked;

static bool is_over(struct record *record, void *with)
{
    (void)with;
    asked++;
    return record->parked >= over;
}

static const struct reclaim reclaim = {is_over, NULL};

static uint64_t slot_at(uint64_t depth)
{
    return 0x7fff0000 - 8 * depth;
}

/* Pushes a record whose slot lies `depth` words below an imagined stack's top. */
static struct record *push(struct stash *stash, uint64_t depth)
{
    struct record *record = stash_push(stash, &reclaim);

    assert_non_null(record);
    assert_int_equal(record->slot, SLOT_FREE);
    record->slot = slot_at(depth) + SLOT_BIAS;
    record->body = 1;
    return record;
}

static void begins_with_a_sentinel_that_leads_to_the_exit_hook(void **state)
{
    struct stash stash;

    (void)state;
    begin(&stash, true);
    assert_true(record_is_sentinel(stash.top));
    assert_ptr_equal(stash.top->node, root);
    assert_int_equal(stash.top->body, (uint64_t)no_exit);
    stash_release(&stash);
}

static void thunk_and_record_lead_to_each_other(void **state)
{
    struct stash stash;
    struct record *record;

    (void)state;
    begin(&stash, true);
    record = push(&stash, 1);
    assert_ptr_equal(record_of_return(record_thunk(record) + THUNK_RETURN), record);
    assert_null(record_of_return(record_thunk(record)));
    assert_null(record_of_return((uint64_t)record + THUNK_RETURN));
    assert_null(record_of_return((uint64_t)no_exit));
    stash_release(&stash);
}

static void ordered_records_come_and_go_last_in_first_out_across_blocks(void **state)
{
    struct stash stash;
    uint64_t many = 5 * BLOCK_THUNKS;
    static struct record *pushed[5 * BLOCK_THUNKS];

    (void)state;
    begin(&stash, true);
    for (uint64_t i = 0; i < many; i++)
        pushed[i] = push(&stash, i);
    for (uint64_t i = many; i-- > 1;) {
        assert_ptr_equal(stash.top, pushed[i]);
        assert_ptr_equal(stash_below(stash.top), pushed[i - 1]);
        stash_pop(&stash);
        assert_int_equal(pushed[i]->slot, SLOT_FREE);
    }
    stash_pop(&stash);
    assert_true(record_is_sentinel(stash.top));
    stash_release(&stash);
}

static void a_later_blocks_sentinel_repeats_the_record_before_it(void **state)
{
    struct stash stash;
    struct record *last = NULL, *first;

    (void)state;
    begin(&stash, true);
    for (int i = 1; i <= BLOCK_LAST; i++)
        last = push(&stash, (uint64_t)i);
    last->node = (struct trace_node *)0x2000;
    first = push(&stash, BLOCK_THUNKS);
    assert_true(record_is_sentinel(first - 1));
    assert_int_equal((first - 1)->slot, last->slot);
    assert_ptr_equal((first - 1)->node, last->node);
    stash_release(&stash);
}

/* The hot path leaves the top so when the first record of a block has returned. */
static void a_top_on_a_sentinel_is_the_record_before_it(void **state)
{
    struct stash stash;
    struct record *last = NULL, *first;

    (void)state;
    begin(&stash, true);
    for (int i = 1; i <= BLOCK_LAST; i++)
        last = push(&stash, (uint64_t)i);
    first = push(&stash, BLOCK_THUNKS);
    first->slot = SLOT_FREE;
    stash.top = first - 1;
    stash_settle(&stash);
    assert_ptr_equal(stash.top, last);
    stash_release(&stash);
}

static void depth_counts_records_across_blocks(void **state)
{
    struct stash stash;

    (void)state;
    begin(&stash, true);
    assert_int_equal(stash_depth(&stash), 0);
    for (uint32_t i = 1; i <= 2 * BLOCK_LAST + 3; i++) {
        push(&stash, i);
        assert_int_equal(stash_depth(&stash), i);
    }
    for (uint32_t i = 2 * BLOCK_LAST + 3; i > 0; i--, stash_pop(&stash))
        assert_int_equal(stash_depth(&stash), i);
    stash_release(&stash);
}

/* a, then the parked ones b and c: whatever is called from a next lies behind c. */
static void what_is_pushed_goes_past_parked_records(void **state)
{
    struct stash stash;
    struct record *a, *b, *c, *d;

    (void)state;
    over = UINT64_MAX;
    begin(&stash, true);
    a = push(&stash, 1);
    b = push(&stash, 2);
    c = push(&stash, 3);
    stash_park(&stash);
    stash_park(&stash);
    assert_ptr_equal(stash.top, a);
    assert_int_equal(b->parked, slot_at(2));
    assert_int_equal(b->slot, SLOT_PARKED);
    d = push(&stash, 2);
    assert_true(d > c);
    assert_int_equal((d - 1)->slot, a->slot); /* the bridge */
    assert_ptr_equal((d - 1)->node, a->node);
    assert_ptr_equal(stash_below(d), a);
    assert_int_equal(stash_depth(&stash), 2);
    stash_pop(&stash);
    assert_ptr_equal(stash.top, a);
    assert_int_equal(stash_depth(&stash), 1);
    over = slot_at(2);
    assert_ptr_equal(push(&stash, 2), b);
    stash_release(&stash);
}

static void a_top_on_a_bridge_is_the_record_that_it_leads_to(void **state)
{
    struct stash stash;
    struct record *a, *c;

    (void)state;
    over = UINT64_MAX;
    begin(&stash, true);
    a = push(&stash, 1);
    push(&stash, 2);
    stash_park(&stash);
    c = push(&stash, 3);
    c->slot = SLOT_FREE; /* the hot path: it has returned */
    stash.top = c - 1;
    stash_settle(&stash);
    assert_ptr_equal(stash.top, a);
    assert_ptr_equal(push(&stash, 3), c);
    stash_release(&stash);
}

/* Over the end of a block, one bridge on the other, and not asked about each one each time. */
static void many_parked_records_are_passed_at_once(void **state)
{
    struct stash stash;
    struct record *a, *second;

    (void)state;
    over = UINT64_MAX;
    begin(&stash, true);
    a = push(&stash, 1);
    for (uint32_t i = 2; i < 3 * BLOCK_LAST; i++)
        push(&stash, i);
    while (stash.top != a)
        stash_park(&stash);
    second = push(&stash, 2);
    for (uint32_t i = 3; i < 2 * BLOCK_LAST; i++)
        push(&stash, i);
    assert_int_equal(stash_depth(&stash), 2 * BLOCK_LAST - 1);
    while (stash.top != second)
        stash_park(&stash);
    push(&stash, 3);
    assert_int_equal(stash_depth(&stash), 3);
    stash_pop(&stash);
    asked = 0;
    push(&stash, 3);
    assert_true(asked < 4);
    stash_pop(&stash);
    assert_ptr_equal(stash_below(stash.top), a);
    stash_pop(&stash);
    assert_ptr_equal(stash.top, a);
    over = 0;
    assert_ptr_equal(push(&stash, 2), a + 1);
    stash_release(&stash);
}

static void without_order_each_live_record_has_the_one_below_it(void **state)
{
    struct stash stash;
    struct record *a, *b, *d;

    (void)state;
    over = UINT64_MAX;
    begin(&stash, true);
    a = push(&stash, 1);
    b = push(&stash, 2);
    stash_park(&stash);
    d = push(&stash, 3);
    stash_lose_order(&stash);
    assert_null(stash.top);
    assert_ptr_equal(d->below, a);
    assert_null(a->below);
    assert_true(record_is_parked(b));
    stash_release(&stash);
}

static void unordered_records_are_freed_in_any_order(void **state)
{
    struct stash stash;
    struct record *a, *b, *c;

    (void)state;
    begin(&stash, false);
    a = push(&stash, 1);
    b = push(&stash, 2);
    c = push(&stash, 3);
    assert_ptr_equal(record_owner(b), &stash);
    stash_free(&stash, b);
    assert_int_not_equal(a->slot, SLOT_FREE);
    assert_int_not_equal(c->slot, SLOT_FREE);
    assert_ptr_equal(push(&stash, 4), b);
    stash_release(&stash);
}

static void blocks_given_back_are_used_again_and_their_end_is_told(void **state)
{
    struct stash all, one;
    uint64_t pushed = 0;

    (void)state;
    begin(&all, true);
    while (stash_push(&all, &reclaim))
        pushed++;
    assert_int_equal(pushed, (uint64_t)STASH_BLOCKS * BLOCK_LAST);
    assert_false(stash_begin(&one, true, 1, root));
    stash_release(&all);
    begin(&one, true);
    stash_release(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_a_sentinel_that_leads_to_the_exit_hook),
        cmocka_unit_test(thunk_and_record_lead_to_each_other),
        cmocka_unit_test(ordered_records_come_and_go_last_in_first_out_across_blocks),
        cmocka_unit_test(a_later_blocks_sentinel_repeats_the_record_before_it),
        cmocka_unit_test(a_top_on_a_sentinel_is_the_record_before_it),
        cmocka_unit_test(depth_counts_records_across_blocks),
        cmocka_unit_test(what_is_pushed_goes_past_parked_records),
        cmocka_unit_test(a_top_on_a_bridge_is_the_record_that_it_leads_to),
        cmocka_unit_test(many_parked_records_are_passed_at_once),
        cmocka_unit_test(without_order_each_live_record_has_the_one_below_it),
        cmocka_unit_test(unordered_records_are_freed_in_any_order),
        cmocka_unit_test(blocks_given_back_are_used_again_and_their_end_is_told),
    };

    return cmocka_run_group_tests_name("thunkstash", tests, prepare, NULL);
}
