#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/linux/found_pages.h"

#include <cmocka.h>

#define BLOCK 4096

static void a_run_is_found(void **state)
{
    struct found_pages found = {0};

    (void)state;
    assert_false(found_pages_has(&found, 0, BLOCK));
    found_pages_set(&found, 5 * BLOCK, 3 * BLOCK);
    assert_true(found_pages_has(&found, 5 * BLOCK, BLOCK));
    assert_true(found_pages_has(&found, 7 * BLOCK, BLOCK));
    assert_true(found_pages_has(&found, 5 * BLOCK, 3 * BLOCK));
    assert_false(found_pages_has(&found, 7 * BLOCK, 2 * BLOCK));
    assert_false(found_pages_has(&found, 7 * BLOCK, BLOCK + 1));
    assert_false(found_pages_has(&found, 8 * BLOCK, BLOCK));
}

/* Of two threads, the one with the later block looks first. */
static void what_lies_in_front_is_not(void **state)
{
    struct found_pages found = {0};

    (void)state;
    found_pages_set(&found, 6 * BLOCK, 4 * BLOCK);
    assert_false(found_pages_has(&found, 5 * BLOCK, BLOCK));
    found_pages_set(&found, 5 * BLOCK, 4 * BLOCK);
    assert_true(found_pages_has(&found, 5 * BLOCK, BLOCK));
}

static void the_largest_trace_has_room(void **state)
{
    struct found_pages found = {0};
    uint64_t end = 256ull << 30;

    (void)state;
    found_pages_set(&found, end - 2 * BLOCK, 2 * BLOCK);
    assert_true(found_pages_has(&found, end - BLOCK, BLOCK));
    assert_false(found_pages_has(&found, end, BLOCK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_found),
        cmocka_unit_test(what_lies_in_front_is_not),
        cmocka_unit_test(the_largest_trace_has_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
