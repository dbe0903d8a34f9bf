/* The agent's memory in a process that has its own locked, and what is known of where it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/own_memory.h"

#include <cmocka.h>

#define PAGE  4096
#define LARGE (64u << 20)

static bool is_known(const void *start, uint64_t size)
{
    struct memory_span span = own_memory_above((uint64_t)start);

    return span.start == (uint64_t)start && span.end == (uint64_t)start + size;
}

/* Pages that are resident, of the first ones. */
static int resident(void *pages, size_t count)
{
    unsigned char in[64];
    int sum = 0;

    assert_true(count <= sizeof(in));
    assert_int_equal(mincore(pages, count * PAGE, in), 0);
    for (size_t i = 0; i < count; i++)
        sum += in[i] & 1;
    return sum;
}

static void knows_what_was_taken_until_it_is_given_back(void **state)
{
    char *pages = pages_take(3 * PAGE), *more = pages_take(PAGE + 1);

    (void)state;
    assert_true(is_known(pages, 3 * PAGE));
    assert_true(is_known(more, 2 * PAGE));
    pages_give_back(pages, 3 * PAGE);
    assert_false(is_known(pages, 3 * PAGE));
    assert_true(is_known(more, 2 * PAGE));
    pages_give_back(more, PAGE + 1);
    assert_int_equal(own_memory_above(0).start, UINT64_MAX);
}

static void finds_the_lowest_area_that_ends_above_an_address(void **state)
{
    const char *base = (const char *)0x7f0000000000;

    (void)state;
    own_memory_add(base + 16 * PAGE, 4 * PAGE);
    own_memory_add(base, 2 * PAGE);
    own_memory_add(base + 8 * PAGE, PAGE);
    assert_int_equal(own_memory_above(0).start, (uint64_t)base);
    assert_int_equal(own_memory_above((uint64_t)base + PAGE).end, (uint64_t)base + 2 * PAGE);
    assert_int_equal(own_memory_above((uint64_t)base + 2 * PAGE).start, (uint64_t)base + 8 * PAGE);
    own_memory_remove(base + 8 * PAGE, 2 * PAGE);
    assert_int_equal(own_memory_above((uint64_t)base + 2 * PAGE).start, (uint64_t)base + 8 * PAGE);
    own_memory_remove(base + 8 * PAGE, PAGE);
    own_memory_remove(base + 8 * PAGE, PAGE);
    assert_int_equal(own_memory_above((uint64_t)base + 2 * PAGE).start, (uint64_t)base + 16 * PAGE);
    assert_int_equal(own_memory_above((uint64_t)base + 20 * PAGE).start, UINT64_MAX);
    own_memory_remove(base, 2 * PAGE);
    own_memory_remove(base + 16 * PAGE, 4 * PAGE);
}

static void more_areas_than_it_can_know_of_do_no_harm(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= OWN_MEMORY_MOST + 1; i++)
        own_memory_add((const void *)(2 * i * PAGE), PAGE);
    for (uint64_t i = 1; i <= OWN_MEMORY_MOST + 1; i++)
        own_memory_remove((const void *)(2 * i * PAGE), PAGE);
    assert_int_equal(own_memory_above(0).start, UINT64_MAX);
}

static void what_is_reserved_is_not_resident_until_it_is_committed(void **state)
{
    char *pages = pages_reserve(LARGE);

    (void)state;
    assert_non_null(pages);
    mlock(pages, 64 * PAGE);
    assert_int_equal(resident(pages, 64), 0);
    munlock(pages, 64 * PAGE);
    assert_true(pages_commit(pages, PAGE));
    pages[0] = 1;
    assert_int_equal(resident(pages, 64), 1);
    pages_give_back(pages, LARGE);
}

static void what_is_taken_is_not_locked_nor_refused(void **state)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    char *pages, *reserved;

    (void)state;
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    pages_keep_unlocked();
    if (mlockall(MCL_FUTURE)) {
        print_message("skipped: mlockall is not permitted here\n");
        return;
    }
    pages = pages_take(LARGE);
    reserved = pages_reserve(LARGE);
    assert_non_null(pages);
    assert_non_null(reserved);
    assert_true(is_known(pages, LARGE));
    assert_true(is_known(reserved, LARGE));
    assert_false(pages_are_locked(pages));
    assert_false(pages_are_locked(reserved));
    assert_int_equal(resident(pages, 64), 0);
    memset(pages + LARGE - PAGE, 1, PAGE);
    pages_give_back(pages, LARGE);
    pages_give_back(reserved, LARGE);
    munlockall();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_was_taken_until_it_is_given_back),
        cmocka_unit_test(finds_the_lowest_area_that_ends_above_an_address),
        cmocka_unit_test(more_areas_than_it_can_know_of_do_no_harm),
        cmocka_unit_test(what_is_reserved_is_not_resident_until_it_is_committed),
        cmocka_unit_test(what_is_taken_is_not_locked_nor_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
