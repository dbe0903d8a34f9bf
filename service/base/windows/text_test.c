#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "service/base/windows/text.h"

#include <cmocka.h>

static const char utf8[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
static const wchar_t utf16[] = {'a', 0xe4, 0x20ac, 0xd83d, 0xde00, 0};

#define UNITS (sizeof(utf16) / sizeof(*utf16))

static void test_both_ways(void **state)
{
    wchar_t wide[UNITS], *new_wide;
    char text[sizeof(utf8)], *new_text;

    (void)state;
    assert_true(text_to_wide(wide, UNITS, utf8));
    assert_memory_equal(wide, utf16, sizeof(utf16));
    assert_true(text_from_wide(text, sizeof(text), utf16));
    assert_string_equal(text, utf8);
    new_wide = text_to_new_wide(utf8);
    assert_non_null(new_wide);
    assert_memory_equal(new_wide, utf16, sizeof(utf16));
    new_text = text_from_new_wide(utf16);
    assert_string_equal(new_text, utf8);
    free(new_wide);
    free(new_text);
}

static void test_what_does_not_fit(void **state)
{
    wchar_t wide[UNITS];
    char text[sizeof(utf8)];

    (void)state;
    errno = 0;
    assert_false(text_to_wide(wide, UNITS - 1, utf8));
    assert_int_equal(errno, ENAMETOOLONG);
    errno = 0;
    assert_false(text_from_wide(text, sizeof(utf8) - 1, utf16));
    assert_int_equal(errno, ENAMETOOLONG);
}

static void test_what_is_malformed(void **state)
{
    static const char bytes[] = "a\xff";
    static const wchar_t half[] = {'a', 0xd83d, 'b', 0};
    wchar_t wide[UNITS];
    char text[sizeof(utf8)];

    (void)state;
    errno = 0;
    assert_false(text_to_wide(wide, UNITS, bytes));
    assert_int_equal(errno, EILSEQ);
    errno = 0;
    assert_null(text_to_new_wide(bytes));
    assert_int_equal(errno, EILSEQ);
    errno = 0;
    assert_false(text_from_wide(text, sizeof(text), half));
    assert_int_equal(errno, EILSEQ);
    errno = 0;
    assert_null(text_from_new_wide(half));
    assert_int_equal(errno, EILSEQ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_what_is_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
