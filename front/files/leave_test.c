#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "front/files/leave.h"

#include <cmocka.h>

static bool leaves(char *const *patterns, const char *path)
{
    struct words words = {0};
    bool is;

    words_add_all(&words, patterns);
    is = leave_matches(&words, path);
    words_free(&words);
    return is;
}

#define LEAVES(path, ...) leaves((char *[]){__VA_ARGS__ NULL}, path)

static void a_pattern_is_of_the_path_or_the_name(void **state)
{
    (void)state;
    assert_false(LEAVES("/usr/lib/libm.so.6", ));
    assert_true(LEAVES("/usr/lib/libm.so.6", "libm.so.6", ));
    assert_true(LEAVES("/usr/lib/libm.so.6", "libm.*", ));
    assert_true(LEAVES("/usr/lib/libm.so.6", "/usr/lib/libm.so.6", ));
    assert_true(LEAVES("/usr/lib/libm.so.6", "/usr/*", ));
    assert_true(LEAVES("/usr/lib/libm.so.6", "*lib/libm*", ));
    assert_false(LEAVES("/usr/lib/libm.so.6", "libm", ));
    assert_false(LEAVES("/usr/lib/libm.so.6", "lib/libm.so.6", ));
    assert_false(LEAVES("/usr/lib/libm.so.6", "usr", ));
}

static void the_last_that_matches_decides(void **state)
{
    (void)state;
    assert_true(LEAVES("/bin/sh", "*", "!/usr/bin/perl", ));
    assert_false(LEAVES("/usr/bin/perl", "*", "!/usr/bin/perl", ));
    assert_false(LEAVES("/usr/bin/perl", "*", "!perl", ));
    assert_true(LEAVES("/usr/bin/perl", "!perl", "*", ));
    assert_true(LEAVES("/usr/bin/perl", "perl", "!python*", ));
    assert_false(LEAVES("/usr/bin/perl", "!perl", ));
}

static void a_name_with_special_characters_is_itself(void **state)
{
    (void)state;
    assert_true(LEAVES("/opt/a[1].so", "a[1].so", ));
    assert_true(LEAVES("/opt/a1.so", "a[1].so", ));
    assert_true(LEAVES("/opt/a\\b", "a\\b", ));
    assert_false(LEAVES("/opt/a[1].so", "*", "!a[1].so", ));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_is_of_the_path_or_the_name),
        cmocka_unit_test(the_last_that_matches_decides),
        cmocka_unit_test(a_name_with_special_characters_is_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
