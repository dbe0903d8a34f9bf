#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "service/tool/answer.h"

#include <cmocka.h>

static void test_values_by_key(void **state)
{
    struct table answer = {0};

    (void)state;
    assert_true(table_add(&answer, "running_bytes\t18446744073709551615"));
    assert_true(table_add(&answer, "running\t7"));
    assert_true(table_add(&answer, "trace_dir\t/odd\tdirectory"));
    assert_true(table_add(&answer, "empty\t"));
    assert_int_equal(answer_number(&answer, "running"), 7);
    assert_true(answer_number(&answer, "running_bytes") == UINT64_MAX);
    assert_string_equal(answer_text(&answer, "trace_dir"), "/odd\tdirectory");
    assert_string_equal(answer_text(&answer, "empty"), "");
    table_free(&answer);
}

static void test_what_is_not_said(void **state)
{
    struct table answer = {0};

    (void)state;
    assert_null(answer_text(&answer, "pid"));
    assert_true(table_add(&answer, "pid"));
    assert_true(table_add(&answer, "pids\t1"));
    assert_null(answer_text(&answer, "pid"));
    assert_int_equal(answer_number(&answer, "pid"), 0);
    table_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_by_key),
        cmocka_unit_test(test_what_is_not_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
