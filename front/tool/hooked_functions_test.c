#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front/test_ground/own_folder.h"
#include "front/tool/hooked_functions.h"

#include <cmocka.h>

#define ALL "exclude 0x0-0xffffffffffffffff\n"

/* One was excluded by the user between c and d. */
static struct hooked_function list[] = {
    {0x1000, "a", 0}, {0x1080, "b", 0}, {0x10c0, NULL, 0}, {0x1100, "b", 1}, {0x1140, "e", 1},
};
static const struct hooked_functions functions = {.list = list, .count = 5};

static void expect(const uint64_t *chosen, size_t count, const char *expected)
{
    char *text;

    hooked_functions_write_filter(&functions, chosen, count, "filter");
    text = own_file_read("filter");
    assert_string_equal(text, expected);
    free(text);
}

#define EXPECT(expected, ...)                                                                      \
    expect((uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),        \
           expected)

static void none_are_hooked_but_the_chosen(void **state)
{
    (void)state;
    expect(NULL, 0, ALL);
    EXPECT(ALL "include 0x1000-0x1001\n", 0);
    EXPECT(ALL "include 0x1140-0x1141\n", 4);
}

static void neighbours_are_one_stretch(void **state)
{
    (void)state;
    EXPECT(ALL "include 0x1000-0x10c1\n", 0, 1, 2);
    EXPECT(ALL "include 0x1000-0x1001\ninclude 0x10c0-0x10c1\n", 0, 2);
    EXPECT(ALL "include 0x1000-0x1081\ninclude 0x1140-0x1141\n", 0, 1, 4);
}

/* A stretch over it would hook it. */
static void what_was_excluded_ends_a_stretch(void **state)
{
    (void)state;
    EXPECT(ALL "include 0x10c0-0x10c1\ninclude 0x1100-0x1141\n", 2, 3, 4);
    EXPECT(ALL "include 0x1000-0x10c1\ninclude 0x1100-0x1141\n", 0, 1, 2, 3, 4);
}

static void a_name_may_be_of_several(void **state)
{
    (void)state;
    assert_true(hooked_function_is_alone(&functions, 0));
    assert_false(hooked_function_is_alone(&functions, 1));
    assert_false(hooked_function_is_alone(&functions, 2));
    assert_false(hooked_function_is_alone(&functions, 3));
    assert_true(hooked_function_is_alone(&functions, 4));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, own_folder_enter, own_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(none_are_hooked_but_the_chosen),
        TEST(neighbours_are_one_stretch),
        TEST(what_was_excluded_ends_a_stretch),
        TEST(a_name_may_be_of_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
