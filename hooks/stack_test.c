/* Chains of calls as a thread notes them, read back from its blocks after each note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "hooks/stack.h"
#include "hooks/stack_sample.h"

#include <cmocka.h>

static void nothing_noted_is_nothing_known(void **state)
{
    struct stack_chain chain;

    (void)state;
    read_chain(&chain);
    assert_int_equal(chain.copies[0].head.kind, 0);
    assert_int_equal(chain.inner, 0);
    assert_int_equal(stack_chain_depth(&chain), 0);
}

static void the_deepest_chain_stays(void **state)
{
    struct stack_chain chain;

    (void)state;
    push(1000, 1);
    push(200, 2);
    push(64, 3);
    assert_true(note());
    assert_noted();
    pop(2);
    push(100, 4);
    push(100, 5);
    assert_false(note());
    pop(2);
    push(208, 4);
    push(64, 5);
    assert_true(note());
    assert_noted();
    read_chain(&chain);
    assert_int_equal(chain.peak, 1272);
    assert_int_equal(chain.copies[0].head.size, SIZE);
    stack_chain_free(&chain);
}

/* A function that is called again at the same place, but from elsewhere, is another call. */
static void check_another_call_at_the_same_place(enum call_kind of)
{
    call_kind = of;
    push(1000, 1);
    push(48, 2);
    push(112, 3);
    assert_true(note());
    pop(2);
    push(112, 2);
    push(48, 3);
    push(32, 4);
    assert_true(note());
    assert_noted();
}

static void another_call_at_the_same_place_is_another(void **state)
{
    (void)state;
    check_another_call_at_the_same_place(RECORDS);
}

static void so_is_another_frame(void **state)
{
    (void)state;
    check_another_call_at_the_same_place(FRAMES);
}

/* A frame that is in one copy of the chain may stand where another call is in the other one. */
static void frames_are_told_in_either_copy(void **state)
{
    (void)state;
    call_kind = FRAMES;
    push(1000, 1);
    push(48, 2);
    push(112, 3);
    assert_true(note());
    pop(2);
    push(112, 2);
    push(48, 3);
    for (uint32_t i = 0; i < STACK_IN_PLACE; i++)
        push(32, 4);
    assert_true(note());
    assert_int_equal(current_copy(), 1);
    assert_noted();
    pop(STACK_IN_PLACE);
    for (uint32_t i = 0; i < STACK_IN_PLACE + 1; i++)
        push(48, 5);
    assert_true(note());
    assert_int_equal(current_copy(), 0);
    assert_noted();
}

static void enter(uint32_t bytes, uint32_t node)
{
    push(bytes, node);
    if (calls[call_count - 1].slot >= thread.peak.lowest)
        return;
    note();
    assert_noted();
}

/* Up to most_at_once are entered one after the other, then some are left. */
static void random_calls(uint32_t steps, uint32_t most_at_once)
{
    push(1000, 1);
    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t count = 1 + random_below(most_at_once); count; count--)
            enter(16 + 16 * random_below(20), 1 + random_below(60));
        if (random_below(2))
            pop(random_below(call_count));
    }
}

static void random_calls_are_noted(void **state)
{
    (void)state;
    random_calls(20000 / LESS, 3);
}

static void so_are_those_of_frames_and_records(void **state)
{
    (void)state;
    call_kind = ANY;
    random_calls(20000 / LESS, 3);
}

static void check_a_long_chain(enum call_kind of)
{
    struct stack_chain chain;

    call_kind = of;
    for (uint32_t i = 0; i < 150000; i++) {
        push(32, 1 + i % 50);
        assert_true(note());
    }
    assert_int_equal(thread.peak.copies[0].block_count, STACK_MOST_BLOCKS);
    read_chain(&chain);
    assert_int_equal(chain.count, 150000);
    assert_int_equal(chain.outer, STACK_OUTER);
    assert_int_equal(chain.inner, STACK_INNER - 1); /* nothing vouches for the ring's first */
    for (uint32_t i = 0; i < chain.outer; i++)
        assert_true(is_call(stack_chain_entry(&chain, i), &calls[i]));
    for (uint32_t i = chain.count - chain.inner; i < chain.count; i++)
        assert_true(is_call(stack_chain_entry(&chain, i), &calls[i]));
    stack_chain_free(&chain);

    pop(149000);
    push(149001 * 32, 60);
    assert_true(note());
    assert_noted();
}

static void of_a_long_chain_both_ends_are_kept(void **state)
{
    (void)state;
    check_a_long_chain(RECORDS);
}

static void so_are_those_of_frames(void **state)
{
    (void)state;
    check_a_long_chain(FRAMES);
}

static void a_full_trace_still_has_the_peak(void **state)
{
    struct stack_chain chain;

    (void)state;
    block_limit = 1;
    for (uint32_t i = 0; i < STACK_BLOCK_ENTRIES + 100; i++) {
        push(32, 1);
        assert_true(note());
    }
    read_chain(&chain);
    assert_int_equal(chain.peak, (STACK_BLOCK_ENTRIES + 100) * 32);
    assert_int_equal(stack_chain_depth(&chain), STACK_BLOCK_ENTRIES * 32);
    assert_int_equal(chain.inner, STACK_BLOCK_ENTRIES);
    stack_chain_free(&chain);
}

static void a_chain_that_changed_under_the_copy_is_known_from_the_inner_end(void **state)
{
    struct stack_chain chain;

    (void)state;
    for (uint32_t i = 1; i <= 10; i++)
        push(32, i);
    note();
    read_chain(&chain);
    chain.copies[0].entries[6].node = 77;
    stack_chain_check(&chain);
    assert_int_equal(chain.count, 10);
    assert_int_equal(chain.inner, 3);
    assert_int_equal(chain.outer, 0);
    chain.copies[0].entries[9].node = 77;
    stack_chain_check(&chain);
    assert_int_equal(chain.inner, 0);
    assert_int_equal(chain.peak, 320);
    stack_chain_free(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_noted_is_nothing_known, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(the_deepest_chain_stays, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(another_call_at_the_same_place_is_another, sample_begin,
                                        sample_end),
        cmocka_unit_test_setup_teardown(so_is_another_frame, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(frames_are_told_in_either_copy, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(random_calls_are_noted, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(so_are_those_of_frames_and_records, sample_begin,
                                        sample_end),
        cmocka_unit_test_setup_teardown(of_a_long_chain_both_ends_are_kept, sample_begin,
                                        sample_end),
        cmocka_unit_test_setup_teardown(so_are_those_of_frames, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(a_full_trace_still_has_the_peak, sample_begin, sample_end),
        cmocka_unit_test_setup_teardown(
            a_chain_that_changed_under_the_copy_is_known_from_the_inner_end, sample_begin,
            sample_end),
    };

    return cmocka_run_group_tests_name("stack", tests, sample_prepare, NULL);
}
