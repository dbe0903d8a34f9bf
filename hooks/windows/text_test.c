/* UTF-8 and UTF-16, in buffers of any size. Is compiled with a wchar_t of 16 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/windows/text.h"

#include <cmocka.h>

/* One to four bytes; the last is a pair of units. */
static const char utf8[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
static const wchar_t utf16[] = {'a', 0xe4, 0x20ac, 0xd83d, 0xde00, 0};

#define UNITS 5

static void test_both_ways(void **state)
{
    wchar_t wide[UNITS + 1];
    char text[sizeof(utf8)];

    (void)state;
    assert_true(text_to_wide(wide, UNITS + 1, utf8));
    assert_memory_equal(wide, utf16, sizeof(utf16));
    text_from_wide(text, sizeof(text), utf16, UNITS);
    assert_string_equal(text, utf8);
}

static void check_wide(const char *from, wchar_t unit, size_t count)
{
    wchar_t wide[8];

    assert_true(text_to_wide(wide, 8, from));
    assert_int_equal(wide[0], unit);
    assert_int_equal(wide[count], 0);
}

static void test_where_lengths_change(void **state)
{
    char text[8];

    (void)state;
    check_wide("", 0, 0);
    check_wide("\x7f", 0x7f, 1);
    check_wide("\xc2\x80", 0x80, 1);
    check_wide("\xdf\xbf", 0x7ff, 1);
    check_wide("\xe0\xa0\x80", 0x800, 1);
    check_wide("\xef\xbf\xbf", 0xffff, 1);
    check_wide("\xf0\x90\x80\x80", 0xd800, 2);
    check_wide("\xf4\x8f\xbf\xbf", 0xdbff, 2);
    text_from_wide(text, sizeof(text), (const wchar_t[]){0x7ff, 0x800}, 2);
    assert_string_equal(text, "\xdf\xbf\xe0\xa0\x80");
    text_from_wide(text, sizeof(text), (const wchar_t[]){0xdbff, 0xdfff}, 2);
    assert_string_equal(text, "\xf4\x8f\xbf\xbf");
}

/* A buffer of `size` units, with something behind it that stays. */
static bool fits(const char *from, size_t size)
{
    wchar_t wide[16];
    bool is_whole;

    memset(wide, 0x55, sizeof(wide));
    is_whole = text_to_wide(wide, size, from);
    for (size_t i = size; i < 16; i++)
        assert_int_equal(wide[i], 0x5555);
    return is_whole;
}

static void test_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_true(fits("ab", 3));
    assert_false(fits("ab", 2));
    assert_true(fits(utf8, UNITS + 1));
    assert_false(fits(utf8, UNITS));
    assert_false(fits(utf8, UNITS - 1));
    assert_true(fits("", 1));
}

static void test_what_fits_is_whole_characters(void **state)
{
    static const size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    char text[16];

    (void)state;
    for (size_t size = 1; size <= 12; size++) {
        memset(text, 0x55, sizeof(text));
        text_from_wide(text, size, utf16, UNITS);
        assert_int_equal(strlen(text), lengths[size - 1]);
        assert_memory_equal(text, utf8, lengths[size - 1]);
        for (size_t i = size; i < sizeof(text); i++)
            assert_int_equal(text[i], 0x55);
    }
}

static void test_half_a_pair_is_replaced(void **state)
{
    static const wchar_t halves[] = {0xd83d, 'x', 0xde00, 0xd83d, 0xd83d, 0xde00, 0xd83d};
    char text[32];

    (void)state;
    text_from_wide(text, sizeof(text), halves, 7);
    assert_string_equal(text, "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd");
}

/* Nothing behind the end is read, which is the heap's. */
static void test_a_character_that_is_cut_off(void **state)
{
    static const char *const texts[] = {"\xc3", "\xe2", "\xe2\x82", "\xf0", "\xf0\x9f\x98"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char *text = strdup(texts[i]);
        wchar_t wide[8];

        assert_true(text_to_wide(wide, 8, text));
        assert_int_equal(wide[1], 0);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_where_lengths_change),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_what_fits_is_whole_characters),
        cmocka_unit_test(test_half_a_pair_is_replaced),
        cmocka_unit_test(test_a_character_that_is_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
