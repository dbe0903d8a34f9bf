#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "front/base/words.h"

#include <cmocka.h>

static void expect(const struct words *words, char *const *expected)
{
    size_t count = 0;

    for (; expected[count]; count++) {
        assert_true(count < words->count);
        assert_string_equal(words->list[count], expected[count]);
    }
    assert_int_equal(words->count, count);
    assert_null(words->list[count]);
}

#define EXPECT(words, ...) expect(words, (char *[]){__VA_ARGS__ NULL})

static void a_list_ends_with_null(void **state)
{
    struct words words = {0};
    char word[] = "program";

    (void)state;
    words_add(&words, word);
    memset(word, 0, sizeof(word));
    EXPECT(&words, "program", );
    words_print(&words, "--%s=%d", "slices", 10);
    EXPECT(&words, "program", "--slices=10", );
    for (int i = 0; i < 100; i++) {
        words_print(&words, "%d", i);
        assert_null(words.list[words.count]);
    }
    assert_string_equal(words.list[101], "99");
    words_free(&words);
    assert_null(words.list);
    assert_int_equal(words.count, 0);
}

static void a_list_takes_all_of_another(void **state)
{
    struct words words = {0};

    (void)state;
    words_add_all(&words, NULL);
    assert_int_equal(words.count, 0);
    words_add(&words, "a");
    words_add_all(&words, (char *[]){"b", "", NULL});
    words_add_all(&words, (char *[]){NULL});
    EXPECT(&words, "a", "b", "", );
    words_free(&words);
}

static void an_option_is_dropped_with_its_values(void **state)
{
    struct words words = {0};

    (void)state;
    words_drop(&words, "--how");
    words_add_all(
        &words, (char *[]){"--how", "--however=1", "--how=copy", "--ho", "x--how", "--how=", NULL});
    words_drop(&words, "--how");
    EXPECT(&words, "--however=1", "--ho", "x--how", );
    words_drop(&words, "--however");
    words_drop(&words, "--ho");
    words_drop(&words, "x--how");
    EXPECT(&words, );
    words_free(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_ends_with_null),
        cmocka_unit_test(a_list_takes_all_of_another),
        cmocka_unit_test(an_option_is_dropped_with_its_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
