#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/base/json.h"
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

static void test_json(void **state)
{
    char string[16];

    (void)state;
    assert_string_equal(json_string(string, sizeof(string), "a\"b\\c"), "\"a\\\"b\\\\c\"");
    assert_string_equal(json_string(string, sizeof(string), "ä\n\xff"), "\"ä?\?\"");
    assert_string_equal(json_string(string, 6, "abcäö"), "\"abc\"");
    assert_string_equal(json_string(string, 6, "\"\"\""), "\"\\\"\"");
    assert_string_equal(json_string(string, sizeof(string), ""), "\"\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
