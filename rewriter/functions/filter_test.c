#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/functions/filter.h"

#include <cmocka.h>

static bool excludes(struct filter *filter, const char *symbol)
{
    return filter_is_excluded(filter, filter_match_symbol(filter, symbol));
}

static void test_no_rules_exclude_nothing(void **state)
{
    struct filter filter = {0};

    (void)state;
    assert_false(excludes(&filter, "main"));
}

static void test_the_first_rule_says_where_everything_starts(void **state)
{
    struct filter including = {0}, excluding = {0};

    (void)state;
    filter_add(&including, true, "a*");
    assert_false(excludes(&including, "abc"));
    assert_true(excludes(&including, "main"));
    filter_add(&excluding, false, "a*");
    assert_true(excludes(&excluding, "abc"));
    assert_false(excludes(&excluding, "main"));
    filter_free(&including);
    filter_free(&excluding);
}

static void test_the_last_match_wins(void **state)
{
    struct filter filter = {0};

    (void)state;
    filter_add(&filter, false, "lua_*");
    filter_add(&filter, true, "lua_call*");
    filter_add(&filter, false, "lua_callk");
    assert_true(excludes(&filter, "lua_error"));
    assert_false(excludes(&filter, "lua_call"));
    assert_true(excludes(&filter, "lua_callk"));
    filter_free(&filter);
}

static void test_symbols_match_demangled(void **state)
{
    static const char symbol[] = "_ZN6shapes4areaEi";
    struct filter filter = {0};

    (void)state;
    filter_add(&filter, true, "shapes::area(int)");
    filter_add(&filter, true, "shapes::area");
    filter_add(&filter, true, "_ZN6*");
    filter_add(&filter, true, "shapes::area(double)");
    assert_int_equal(filter_match_symbol(&filter, symbol), 3);
    assert_true(filter.rules[0].has_matched && filter.rules[1].has_matched);
    assert_false(filter.rules[3].has_matched);
    filter_free(&filter);
}

static void test_special_characters_match_themselves(void **state)
{
    struct filter filter = {0};

    (void)state;
    filter_add(&filter, true, "list::operator[](char*)");
    assert_int_equal(filter_match(&filter, FILTER_FUNCTION, "list::operator[](char*)"), 1);
    filter_free(&filter);
}

static void test_a_scope_limits_a_pattern(void **state)
{
    struct filter filter = {0};

    (void)state;
    filter_add(&filter, true, "source:*.c");
    filter_add(&filter, true, "module:lib*");
    assert_int_equal(filter_match(&filter, FILTER_FUNCTION, "x.c"), 0);
    assert_int_equal(filter_match_path(&filter, FILTER_SOURCE, "/src/x.c"), 1);
    assert_int_equal(filter_match_path(&filter, FILTER_MODULE, "/usr/lib/libx.so"), 2);
    assert_false(filter_has_scope(&filter, FILTER_FUNCTION));
    assert_true(filter_has_scope(&filter, FILTER_SOURCE));
    assert_false(filter_add(&filter, true, ""));
    assert_false(filter_add(&filter, true, "module:"));
    filter_free(&filter);
}

static bool read_text(struct filter *filter, const char *text, struct failure *failure)
{
    char path[] = "/tmp/filter_test.XXXXXX";
    int file = mkstemp(path);
    bool is_read;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    is_read = filter_read(filter, path, failure);
    unlink(path);
    return is_read;
}

static void test_a_file_holds_rules(void **state)
{
    struct filter filter = {0};
    struct failure failure;

    (void)state;
    assert_true(read_text(&filter, "# what\n\ninclude a b*\n -c\n+ d \nexclude\te", &failure));
    assert_int_equal(filter.count, 4);
    assert_string_equal(filter.rules[0].pattern, "a b*");
    assert_string_equal(filter.rules[1].pattern, "c");
    assert_string_equal(filter.rules[2].pattern, "d");
    assert_false(filter.rules[3].is_include);
    assert_false(read_text(&filter, "+a\nincluding b\n", &failure));
    assert_non_null(strstr(failure.text, "line 2"));
    assert_false(read_text(&filter, "+\n", &failure));
    filter_free(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_rules_exclude_nothing),
        cmocka_unit_test(test_the_first_rule_says_where_everything_starts),
        cmocka_unit_test(test_the_last_match_wins),
        cmocka_unit_test(test_symbols_match_demangled),
        cmocka_unit_test(test_special_characters_match_themselves),
        cmocka_unit_test(test_a_scope_limits_a_pattern),
        cmocka_unit_test(test_a_file_holds_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
