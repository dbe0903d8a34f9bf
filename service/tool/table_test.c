#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/tool/table.h"

#include <cmocka.h>

static void test_fields(void **state)
{
    char field[4];

    (void)state;
    table_field("ab\tc\t\td", 0, field, sizeof(field));
    assert_string_equal(field, "ab");
    table_field("ab\tc\t\td", 2, field, sizeof(field));
    assert_string_equal(field, "");
    table_field("ab\tc\t\td", 3, field, sizeof(field));
    assert_string_equal(field, "d");
    table_field("ab\tc", 7, field, sizeof(field));
    assert_string_equal(field, "");
    table_field("abcdef", 0, field, sizeof(field));
    assert_string_equal(field, "abc");
}

/* Prints into a file in place of standard output. */
static void printed(struct table *table, bool in_columns, char *text, size_t size)
{
    FILE *file = tmpfile();
    int kept = dup(STDOUT_FILENO);

    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    table_print(table, in_columns, "bytes\tpid");
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static void test_columns(void **state)
{
    struct table table = {0};
    char text[256];

    (void)state;
    assert_true(table_add(&table, "pid\tname\tbytes\ttrace"));
    assert_true(table_add(&table, "4711\tä\t5\tx"));
    assert_true(table_add(&table, "1\tabcdef\t123456\tyy"));
    printed(&table, true, text, sizeof(text));
    assert_string_equal(text, " pid  name     bytes  trace\n"
                              "4711  ä            5  x\n"
                              "   1  abcdef  123456  yy\n");
    printed(&table, false, text, sizeof(text));
    assert_string_equal(text, "pid\tname\tbytes\ttrace\n4711\tä\t5\tx\n1\tabcdef\t123456\tyy\n");
    table_free(&table);
    printed(&table, true, text, sizeof(text));
    assert_string_equal(text, "");
}

static void test_hostile_text(void **state)
{
    struct table table = {0};
    char text[256];

    (void)state;
    assert_true(table_add(&table, "a\033[2J\tb\302\233\377"));
    assert_true(table_add(&table, "=1\t-x"));
    printed(&table, false, text, sizeof(text));
    assert_string_equal(text, "a?[2J\tb?\?\?\n'=1\t'-x\n");
    printed(&table, true, text, sizeof(text));
    assert_string_equal(text, "a?[2J  b?\?\?\n=1     -x\n");
    table_free(&table);
}

static void test_values_by_key(void **state)
{
    struct table answer = {0};

    (void)state;
    assert_true(table_add(&answer, "running_bytes\t18446744073709551615"));
    assert_true(table_add(&answer, "running\t7"));
    assert_true(table_add(&answer, "trace_dir\t/odd\tdirectory"));
    assert_true(table_add(&answer, "empty\t"));
    assert_int_equal(table_number(&answer, "running"), 7);
    assert_true(table_number(&answer, "running_bytes") == UINT64_MAX);
    assert_string_equal(table_text(&answer, "trace_dir"), "/odd\tdirectory");
    assert_string_equal(table_text(&answer, "empty"), "");
    table_free(&answer);
}

static void test_what_is_not_said(void **state)
{
    struct table answer = {0};

    (void)state;
    assert_null(table_text(&answer, "pid"));
    assert_true(table_add(&answer, "pid"));
    assert_true(table_add(&answer, "pids\t1"));
    assert_null(table_text(&answer, "pid"));
    assert_int_equal(table_number(&answer, "pid"), 0);
    table_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),           cmocka_unit_test(test_columns),
        cmocka_unit_test(test_hostile_text),     cmocka_unit_test(test_values_by_key),
        cmocka_unit_test(test_what_is_not_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
