/*
 * Chains of calls as a thread notes them, read back from its blocks after each instruction of a
 * note, as if the thread were killed there, or a handler had left there by longjmp.
 */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "hooks/stack.h"
#include "hooks/stack_sample.h"

#include <cmocka.h>

/* What was live when it was noted. */
static struct call noted[MOST_CALLS];
static uint32_t noted_count;

static int begin(void **state)
{
    noted_count = 0;
    return sample_begin(state);
}

/* Counts of the steps through one note. */
static volatile unsigned long steps_seen, steps_torn, most_cut, steps_of_second;

static void look(int signal)
{
    struct stack_chain chain;

    (void)signal;
    read_chain(&chain);
    steps_seen++;
    if (!begins_with(&chain, calls, call_count) && !begins_with(&chain, noted, noted_count))
        steps_torn++;
    if (chain.count < noted_count && chain.count < call_count &&
        call_count - chain.count > most_cut)
        most_cut = call_count - chain.count;
    steps_of_second += chain.copy;
    stack_chain_free(&chain);
}

static void remember_noted(void)
{
    memcpy(noted, calls, sizeof(*calls) * call_count);
    noted_count = call_count;
}

static void step_through_note(void)
{
    struct sigaction action = {.sa_handler = look};

    sigaction(SIGTRAP, &action, NULL);
    steps_seen = steps_torn = most_cut = steps_of_second = 0;
    set_stepping(true);
    note_innermost();
    set_stepping(false);
    assert_true(steps_seen > 100);
    assert_int_equal(steps_torn, 0);
    assert_noted();
    remember_noted();
}

/* Enters a call that takes the stack deeper than it has been. */
static void push_deeper(uint32_t bytes, uint32_t node)
{
    uint64_t above = call_count ? calls[call_count - 1].slot : HIGH;

    push((above > thread.peak.lowest ? (uint32_t)(above - thread.peak.lowest) : 0) + bytes, node);
}

/*
 * Each way in which a chain changes, one after the other: so many calls are left, so many entered,
 * and the last one is noted.
 */
static const struct change {
    const char *what;
    uint32_t left, entered;
    uint32_t copy; /* the one that has the chain then */
    uint32_t cut;  /* how many calls the chain has yet to get while it is cut; 0: it is not */
} changes[] = {
    {"the first call", 0, 1, 0, 0},
    {"more than are replaced in place, but none is replaced", 0, STACK_IN_PLACE + 1, 0, 0},
    {"a few", 3, 2, 0, 2},
    {"one by as many as may be in place", 1, STACK_IN_PLACE, 0, STACK_IN_PLACE},
    {"many by one", STACK_IN_PLACE + 1, 1, 0, 1},
    {"one by more: in the second copy", 1, STACK_IN_PLACE + 1, 1, 0},
    {"a few of the second copy", 3, 2, 1, 2},
    {"in the first copy again, which has other calls there", 20, STACK_IN_PLACE + 1, 0, 0},
    {"all", 76, 1, 0, 1},
};

static void change_calls(uint32_t left, uint32_t entered, uint32_t node)
{
    pop(left);
    for (uint32_t i = 1; i < entered; i++)
        push(48, node);
    push_deeper(32, node);
}

static void step_through_change(uint32_t left, uint32_t entered, uint32_t node)
{
    change_calls(left, entered, node);
    step_through_note();
}

static void check_change(const struct change *change, uint32_t node)
{
    bool is_second = current_copy() || change->copy;

    step_through_change(change->left, change->entered, node);
    if (current_copy() != change->copy || most_cut != change->cut ||
        (steps_of_second > 0) != is_second)
        fail_msg(
            "%s: copy %u has the chain, %lu calls missing at most, %lu steps of the second copy",
            change->what, current_copy(), most_cut, steps_of_second);
}

static void no_chain_is_torn_at_any_instruction(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
        check_change(&changes[i], 1 + i);
}

static void nor_is_one_in_more_than_a_block(void **state)
{
    (void)state;
    while (call_count < STACK_BLOCK_ENTRIES - 1) {
        push(32, 1);
        note();
    }
    remember_noted();
    step_through_change(0, 3, 2);
    step_through_change(5, 4, 3);
}

static void nor_is_one_of_random_frames_and_records(void **state)
{
    (void)state;
    call_kind = ANY;
    for (int i = 0; i < (LESS > 1 ? 1 : 6); i++) {
        pop(random_below(call_count + 1));
        for (uint32_t count = random_below(STACK_IN_PLACE + 8); count; count--)
            push(16 + 16 * random_below(20), 1 + random_below(60));
        push_deeper(16 + 16 * random_below(20), 1 + random_below(60));
        step_through_note();
    }
}

static sigjmp_buf where_left;
static unsigned long steps_left;

static void leave(int signal)
{
    (void)signal;
    steps_seen++;
    if (!steps_left--)
        siglongjmp(where_left, 1);
}

/* Whether a handler has left it by longjmp, so many steps after so many callers were found. */
static bool is_note_left(uint32_t callers, unsigned long steps)
{
    volatile bool is_left = true;

    callers_found = 0;
    step_from_caller = callers;
    steps_seen = 0;
    steps_left = steps;
    if (!sigsetjmp(where_left, 1)) {
        note_innermost();
        set_stepping(false);
        is_left = false;
    }
    step_from_caller = 0; /* none */
    return is_left;
}

static void look_now(void)
{
    look(0);
}

/* A note is left, and then the next one is made. */
struct departure {
    uint32_t noted; /* calls before it */
    uint32_t left, entered;
    uint32_t left_then, entered_then;
    unsigned long steps; /* how many of its last ones it is left at */
};

static bool check_departure(const struct departure *departure, uint32_t callers,
                            unsigned long steps)
{
    struct stack_chain chain;
    uint32_t found;
    bool is_left;

    for (uint32_t i = 0; i < departure->noted; i++)
        push(32, 1);
    if (call_count)
        note_innermost();
    remember_noted();
    change_calls(departure->left, departure->entered, 2);
    is_left = is_note_left(callers, steps);
    found = callers_found;
    read_chain(&chain);
    if (chain.count == call_count && begins_with(&chain, calls, call_count))
        remember_noted();
    stack_chain_free(&chain);

    change_calls(departure->left_then, departure->entered_then, 3);
    steps_torn = 0;
    on_caller = look_now;
    note_innermost();
    on_caller = NULL;
    assert_int_equal(steps_torn, 0);
    assert_noted();
    callers_found = found;
    return is_left;
}

static void check_departures(void **state, const struct departure *departure)
{
    struct sigaction action = {.sa_handler = leave};
    unsigned long steps;
    uint32_t callers;

    sigaction(SIGTRAP, &action, NULL);
    assert_false(check_departure(departure, 0, 0));
    callers = callers_found;
    sample_end(state);
    begin(state);
    assert_false(check_departure(departure, callers, ULONG_MAX));
    steps = steps_seen;
    assert_true(steps > 40);
    steps -= steps < departure->steps / LESS ? steps : departure->steps / LESS;
    do {
        sample_end(state);
        begin(state);
    } while (check_departure(departure, callers, steps++));
}

static void the_first_note_may_be_left(void **state)
{
    check_departures(state, &(struct departure){0, 0, 1, 0, 1, 240});
}

/* The next one replaces what this one may have cut off already, or not. */
static void so_may_one_in_place(void **state)
{
    check_departures(state, &(struct departure){3, 2, 1, 1, 2, 270});
}

/* The next one is in the first copy or in the second one, whichever has the chain. */
static void so_may_one_in_the_other_copy(void **state)
{
    check_departures(state,
                     &(struct departure){3, 1, STACK_IN_PLACE + 1, STACK_IN_PLACE + 1, 2, 40});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_chain_is_torn_at_any_instruction, begin, sample_end),
        cmocka_unit_test_setup_teardown(nor_is_one_in_more_than_a_block, begin, sample_end),
        cmocka_unit_test_setup_teardown(nor_is_one_of_random_frames_and_records, begin, sample_end),
        cmocka_unit_test_setup_teardown(the_first_note_may_be_left, begin, sample_end),
        cmocka_unit_test_setup_teardown(so_may_one_in_place, begin, sample_end),
        cmocka_unit_test_setup_teardown(so_may_one_in_the_other_copy, begin, sample_end),
    };

    return cmocka_run_group_tests_name("stack, interrupted", tests, sample_prepare, NULL);
}
