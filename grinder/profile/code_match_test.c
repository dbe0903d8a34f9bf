#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grinder/profile/code_match.h"

#include <cmocka.h>

#define MOST 16

/* A letter is the code of a function, `?` not known. The result: by function of the second, the
   place in the first as a letter from a on, or `-`. */
static const char *matched(const char *before, const char *after)
{
    static char text[MOST + 1];
    uint64_t codes[2][MOST];
    uint32_t partners[2][MOST];
    const char *sides[] = {before, after};
    struct code_list lists[2];

    for (int side = 0; side < 2; side++) {
        lists[side] =
            (struct code_list){codes[side], partners[side], (uint32_t)strlen(sides[side])};
        for (uint32_t i = 0; i < lists[side].count; i++) {
            codes[side][i] = sides[side][i] == '?' ? 0 : (uint64_t)sides[side][i];
            partners[side][i] = CODE_UNMATCHED;
        }
    }
    code_match(&lists[0], &lists[1]);
    for (uint32_t i = 0; i < lists[1].count; i++) {
        uint32_t partner = partners[1][i];
        text[i] = partner == CODE_UNMATCHED ? '-' : (char)('a' + partner);
        if (partner != CODE_UNMATCHED)
            assert_int_equal(partners[0][partner], i);
    }
    text[lists[1].count] = 0;
    return text;
}

static void code_matches_wherever_it_lies(void **state)
{
    (void)state;
    assert_string_equal(matched("ABC", "ABC"), "abc");
    assert_string_equal(matched("ABC", "CAB"), "cab");
    assert_string_equal(matched("ABC", "AXBC"), "a-bc");
    assert_string_equal(matched("ABC", "AC"), "ac");
}

static void code_of_several_matches_in_its_order(void **state)
{
    (void)state;
    assert_string_equal(matched("ARBRCR", "ARBRCR"), "abcdef");
    assert_string_equal(matched("RRR", "RRR"), "abc");
    assert_string_equal(matched("RR", "RRR"), "ab-");
}

/* One of them changed, and the others are not taken for each other. */
static void code_of_several_matches_by_its_neighbours(void **state)
{
    (void)state;
    assert_string_equal(matched("ARBRCR", "AXBRCR"), "abcdef");
    assert_string_equal(matched("ARBRCR", "ABRCR"), "acdef");
}

static void what_changed_matches_by_its_place(void **state)
{
    (void)state;
    assert_string_equal(matched("ABC", "AXC"), "abc");
    assert_string_equal(matched("ABCD", "AXYD"), "abcd");
    assert_string_equal(matched("ABC", "XYC"), "abc");
    assert_string_equal(matched("ABC", "AXY"), "abc");
    assert_string_equal(matched("A?C", "A?C"), "abc");
}

static void what_is_left_in_other_numbers_does_not(void **state)
{
    (void)state;
    assert_string_equal(matched("ABC", "AXYC"), "a--c");
    assert_string_equal(matched("ABCD", "AXD"), "a-d");
    assert_string_equal(matched("ABC", "CXA"), "c-a");
    assert_string_equal(matched("", "X"), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_matches_wherever_it_lies),
        cmocka_unit_test(code_of_several_matches_in_its_order),
        cmocka_unit_test(code_of_several_matches_by_its_neighbours),
        cmocka_unit_test(what_changed_matches_by_its_place),
        cmocka_unit_test(what_is_left_in_other_numbers_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
