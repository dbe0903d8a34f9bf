#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "support/failure.h"

#include <cmocka.h>

#undef fail /* cmocka's */

static void a_text_has_its_path_in_front(void **state)
{
    struct failure failure;

    (void)state;
    assert_false(fail(&failure, "a/%s", "expected %d, found %s", 1, "none"));
    assert_string_equal(failure.text, "a/%s: expected 1, found none");
    assert_false(fail_because(&failure, "is no %s file", "PE"));
    assert_string_equal(failure.text, "is no PE file");
}

/* The reason is at the end of the text, where a long path would cut it off. */
static void a_long_path_leaves_room_for_the_reason(void **state)
{
    struct failure failure;
    char path[5000];

    (void)state;
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    fail(&failure, path, "is no file");
    assert_int_equal(strspn(failure.text, "p"), 1000);
    assert_string_equal(failure.text + 1000, ": is no file");
    fail(&failure, path, "%s", path);
    assert_int_equal(strlen(failure.text), sizeof(failure.text) - 1);
    fail_because(&failure, "%s", path);
    assert_int_equal(strlen(failure.text), sizeof(failure.text) - 1);
}

static void errno_stays(void **state)
{
    struct failure failure;

    (void)state;
    errno = ENOENT;
    fail(&failure, "path", "%s", strerror(errno));
    assert_int_equal(errno, ENOENT);
    fail_because(&failure, "%s", strerror(errno));
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_has_its_path_in_front),
        cmocka_unit_test(a_long_path_leaves_room_for_the_reason),
        cmocka_unit_test(errno_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
