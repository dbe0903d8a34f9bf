/* What a mistyped word is taken for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "support/nearest.h"

#include <cmocka.h>

static const char *meant_by(const char *typed)
{
    static const char *const words[] = {"record", "report", "top", "diff", "ls", "trace-dir"};
    struct nearest nearest = nearest_to(typed, strlen(typed));

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        nearest_offer(&nearest, words[i]);
    return nearest.word ? nearest.word : "none";
}

static void a_letter_or_two_may_be_wrong(void **state)
{
    (void)state;
    assert_string_equal(meant_by("reprot"), "report");
    assert_string_equal(meant_by("repport"), "report");
    assert_string_equal(meant_by("reort"), "report");
    assert_string_equal(meant_by("recird"), "record");
    assert_string_equal(meant_by("trace_dri"), "trace-dir");
    assert_string_equal(meant_by("dif"), "diff");
    assert_string_equal(meant_by("lst"), "ls");
}

static void the_beginning_is_enough(void **state)
{
    (void)state;
    assert_string_equal(meant_by("rec"), "record");
    assert_string_equal(meant_by("trace"), "trace-dir");
}

static void other_words_are_near_to_none(void **state)
{
    (void)state;
    assert_string_equal(meant_by("stat"), "none");
    assert_string_equal(meant_by("annotate"), "none");
    assert_string_equal(meant_by(""), "none");
    assert_string_equal(meant_by("x"), "none");
    assert_string_equal(meant_by("record-and-whatever-else-one-may-type"), "none");
}

static void it_may_end_before_the_text_does(void **state)
{
    struct nearest nearest = nearest_to("reprot=x", 6);

    (void)state;
    nearest_offer(&nearest, "report");
    assert_string_equal(nearest.word, "report");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_or_two_may_be_wrong),
        cmocka_unit_test(the_beginning_is_enough),
        cmocka_unit_test(other_words_are_near_to_none),
        cmocka_unit_test(it_may_end_before_the_text_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
