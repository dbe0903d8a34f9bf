#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "service/base/event_loop.h"

#include <cmocka.h>

static struct event_loop loop;

struct caller {
    struct event_timer timer;
    int calls;
    int again;              /* how often it is to set itself anew, at once */
    struct caller *removed; /* that it clears and frees */
};

static void called(void *owner)
{
    struct caller *caller = owner;

    caller->calls++;
    if (caller->again-- > 0)
        event_timer_set(&loop, &caller->timer, 0);
    if (caller->removed) {
        event_timer_clear(&loop, &caller->removed->timer);
        free(caller->removed);
        caller->removed = NULL;
    }
}

static struct caller *new_caller(int64_t delay_ms)
{
    struct caller *caller = calloc(1, sizeof(*caller));

    assert_non_null(caller);
    caller->timer.due = called;
    caller->timer.owner = caller;
    event_timer_set(&loop, &caller->timer, delay_ms);
    return caller;
}

static int open_loop(void **state)
{
    (void)state;
    return event_loop_open(&loop) ? 0 : -1;
}

static int close_loop(void **state)
{
    (void)state;
    event_loop_close(&loop);
    return 0;
}

static void test_the_first_one_due_is_waited_for(void **state)
{
    struct caller *late = new_caller(1000000), *soon = new_caller(5);
    int64_t began = event_loop_now();

    (void)state;
    while (!soon->calls)
        event_loop_turn(&loop);
    assert_in_range(event_loop_now() - began, 4, 999999);
    assert_int_equal(late->calls, 0);
    assert_false(soon->timer.is_set);
    event_timer_set(&loop, &late->timer, 0);
    event_loop_turn(&loop);
    assert_int_equal(late->calls, 1);
    assert_int_equal(soon->calls, 1);
    free(late);
    free(soon);
}

static void test_what_is_cleared_is_not_called(void **state)
{
    struct caller *cleared = new_caller(0), *other = new_caller(0);

    (void)state;
    event_timer_clear(&loop, &cleared->timer);
    event_timer_clear(&loop, &cleared->timer);
    event_loop_turn(&loop);
    assert_int_equal(cleared->calls, 0);
    assert_int_equal(other->calls, 1);
    free(cleared);
    free(other);
}

/* A session that ends takes its timers with it. */
static void test_a_timer_may_free_the_next_one(void **state)
{
    struct caller *first = new_caller(0);

    (void)state;
    first->removed = new_caller(0);
    event_loop_turn(&loop);
    assert_int_equal(first->calls, 1);
    assert_null(first->removed);
    assert_null(loop.timers);
    free(first);
}

static int pipe_ends[2];

static void read_one(void *owner)
{
    char byte;

    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    ++*(int *)owner;
}

/* Whoever writes events sets itself anew as long as there are some. */
static void test_one_that_is_always_due_leaves_others_their_turn(void **state)
{
    struct caller *busy = new_caller(0), *other = new_caller(0);
    struct event_source source = {.ready = read_one};
    int came = 0;

    (void)state;
    assert_int_equal(pipe(pipe_ends), 0);
    source.fd = pipe_ends[0];
    source.owner = &came;
    assert_true(event_loop_add(&loop, &source));
    assert_int_equal(write(pipe_ends[1], "abc", 3), 3);
    busy->again = 2;
    for (int turn = 1; turn <= 3; turn++) {
        event_loop_turn(&loop);
        assert_int_equal(busy->calls, turn);
        assert_int_equal(came, turn);
        assert_int_equal(other->calls, 1);
    }
    assert_null(loop.timers);
    event_loop_remove(&loop, &source);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    free(busy);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_first_one_due_is_waited_for, open_loop,
                                        close_loop),
        cmocka_unit_test_setup_teardown(test_what_is_cleared_is_not_called, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(test_a_timer_may_free_the_next_one, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(test_one_that_is_always_due_leaves_others_their_turn,
                                        open_loop, close_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
