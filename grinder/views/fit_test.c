#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/views/fit.h"

#include <cmocka.h>

static void expect_cut(const char *text, size_t columns, const char *ellipsis, const char *expected)
{
    char *cut = fit_cut(text, columns, ellipsis);

    assert_string_equal(cut, expected);
    free(cut);
}

static void the_middle_is_left_out(void **state)
{
    (void)state;
    expect_cut("parse", 5, FIT_ELLIPSIS, "parse");
    expect_cut("parse_line", 7, FIT_ELLIPSIS, "par…ine");
    expect_cut("parse_line", 8, FIT_ELLIPSIS, "pars…ine");
    expect_cut("parse_line", 8, FIT_ASCII_ELLIPSIS, "par...ne");
    expect_cut("parse_line", 2, FIT_ELLIPSIS, "pa");
    expect_cut("parse_line", 3, FIT_ASCII_ELLIPSIS, "par");
    expect_cut("", 0, FIT_ELLIPSIS, "");
}

static void characters_are_counted_by_their_columns(void **state)
{
    (void)state;
    assert_int_equal(fit_columns("größe"), 5);
    assert_int_equal(fit_columns("関数"), 4);
    assert_int_equal(fit_columns("e\u0301"), 1);
    expect_cut("größenänderung", 7, FIT_ELLIPSIS, "grö…ung");
    expect_cut("関数関数関数", 7, FIT_ELLIPSIS, "関…数");
    expect_cut("abcde\u0301fgh\u0301", 5, FIT_ELLIPSIS, "ab…gh\u0301");
}

static void bad_bytes_become_question_marks(void **state)
{
    (void)state;
    expect_cut("a\033[31mb\xff", 20, FIT_ELLIPSIS, "a?[31mb?");
}

static void expect_wrapped(const char *text, size_t columns, size_t indent, const char *expected)
{
    char *wrapped = NULL;
    size_t size;
    FILE *stream = open_memstream(&wrapped, &size);

    assert_non_null(stream);
    fit_wrap(stream, text, columns, indent, FIT_ELLIPSIS);
    fclose(stream);
    assert_string_equal(wrapped, expected);
    free(wrapped);
}

static void words_that_do_not_fit_stand_below(void **state)
{
    (void)state;
    expect_wrapped("  state     ended", 20, 12, "  state     ended\n");
    expect_wrapped("  state     ended through exit()", 24, 12,
                   "  state     ended\n            through\n            exit()\n");
    expect_wrapped("", 20, 12, "\n");
    expect_wrapped("one two", 20, 16, "one two\n");
}

static void words_longer_than_a_line_are_cut(void **state)
{
    (void)state;
    expect_wrapped("  trace     /home/somebody/traces/program.bin", 24, 12,
                   "  trace\n            /home/…m.bin\n");
}

static void elsewhere_than_in_utf8_there_is_only_ascii(void **state)
{
    char text[] = "gr…öße\n\033[1m";

    (void)state;
    fit_to_ascii(text);
    assert_string_equal(text, "gr~??e\n\033[1m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_is_left_out),
        cmocka_unit_test(characters_are_counted_by_their_columns),
        cmocka_unit_test(bad_bytes_become_question_marks),
        cmocka_unit_test(words_that_do_not_fit_stand_below),
        cmocka_unit_test(words_longer_than_a_line_are_cut),
        cmocka_unit_test(elsewhere_than_in_utf8_there_is_only_ascii),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
