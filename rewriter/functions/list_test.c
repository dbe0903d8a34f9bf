/* What --list prints, line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "rewriter/base/said.h"
#include "rewriter/functions/list.h"
#include "rewriter/functions/patch_reason.h"

#include <cmocka.h>

static const struct listed functions[] = {
    {.address = 0x1000, .size = 16, .reason = PATCH_PLAIN, .name = "main", .is_copied = true},
    {.address = 0x1010,
     .size = 300,
     .reason = PATCH_ADJUSTED,
     .name = "a\"b\\c\n",
     .doubt = "loop"},
    {.address = 0x2000, .size = 2, .reason = PATCH_TOO_SHORT},
    {.address = 0x2010, .size = 1, .reason = PATCH_EXCLUDED, .name = "left"},
    {.address = 0x3000, .reason = PATCH_IMPORT, .name = "read", .is_import = true},
};

/* All of them, as `list` says. */
static void check(struct list list, const char *expected)
{
    struct said said;

    assert_true(said_begin(&said, stdout));
    list_begin(&list);
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        list_function(&list, &functions[i]);
    list_end(&list);
    assert_string_equal(said_end(&said), expected);
}

static void test_a_row_for_each(void **state)
{
    (void)state;
    check((struct list){0}, "address\tsize\tstate\thow\tname\n"
                            "0x1000\t16\thooked\tcopied\tmain\n"
                            "0x1010\t300\thooked\tadjusted\ta\"b\\c?\n"
                            "0x2000\t2\tskipped\ttoo-short\t\n"
                            "0x2010\t1\tskipped\texcluded\tleft\n"
                            "0x3000\t0\thooked\timport\tread@plt\n");
}

static void test_a_column_for_doubts(void **state)
{
    (void)state;
    check((struct list){.has_doubts = true}, "address\tsize\tstate\thow\tname\tnot copied\n"
                                             "0x1000\t16\thooked\tcopied\tmain\t\n"
                                             "0x1010\t300\thooked\tadjusted\ta\"b\\c?\tloop\n"
                                             "0x2000\t2\tskipped\ttoo-short\t\t\n"
                                             "0x2010\t1\tskipped\texcluded\tleft\t\n"
                                             "0x3000\t0\thooked\timport\tread@plt\t\n");
}

static void test_names_are_escaped_in_json(void **state)
{
    (void)state;
    check((struct list){.is_json = true},
          "[\n  {\"address\": \"0x1000\", \"size\": 16, \"state\": \"hooked\", \"how\": "
          "\"copied\", \"name\": \"main\"},"
          "\n  {\"address\": \"0x1010\", \"size\": 300, \"state\": \"hooked\", \"how\": "
          "\"adjusted\", \"name\": \"a\\\"b\\\\c?\", \"not-copied\": \"loop\"},"
          "\n  {\"address\": \"0x2000\", \"size\": 2, \"state\": \"skipped\", \"how\": "
          "\"too-short\", \"name\": null},"
          "\n  {\"address\": \"0x2010\", \"size\": 1, \"state\": \"skipped\", \"how\": "
          "\"excluded\", \"name\": \"left\"},"
          "\n  {\"address\": \"0x3000\", \"size\": 0, \"state\": \"hooked\", \"how\": "
          "\"import\", \"name\": \"read@plt\"}"
          "\n]\n");
}

static void test_sums_of_each_reason_and_of_all(void **state)
{
    (void)state;
    check((struct list){.is_summary = true}, "state\thow\tfunctions\tbytes\n"
                                             "hooked\tcopied\t1\t16\n"
                                             "hooked\tadjusted\t1\t300\n"
                                             "hooked\timport\t1\t0\n"
                                             "skipped\texcluded\t1\t1\n"
                                             "skipped\ttoo-short\t1\t2\n"
                                             "not-copied\tloop\t1\t300\n"
                                             "all\t\t5\t319\n"
                                             "hooked\t\t3\t316\n"
                                             "skipped\t\t2\t3\n"
                                             "no-safe-patch\t\t1\t2\n");
}

static void test_sums_in_json(void **state)
{
    (void)state;
    check((struct list){.is_summary = true, .is_json = true, .has_doubts = true},
          "{\n  \"all\": {\"functions\": 5, \"bytes\": 319},"
          "\n  \"hooked\": {\"functions\": 3, \"bytes\": 316},"
          "\n  \"skipped\": {\"functions\": 2, \"bytes\": 3},"
          "\n  \"no-safe-patch\": {\"functions\": 1, \"bytes\": 2},"
          "\n  \"reasons\": ["
          "\n    {\"state\": \"hooked\", \"how\": \"copied\", \"functions\": 1, \"bytes\": 16},"
          "\n    {\"state\": \"hooked\", \"how\": \"adjusted\", \"functions\": 1, \"bytes\": 300},"
          "\n    {\"state\": \"hooked\", \"how\": \"import\", \"functions\": 1, \"bytes\": 0},"
          "\n    {\"state\": \"skipped\", \"how\": \"excluded\", \"functions\": 1, \"bytes\": 1},"
          "\n    {\"state\": \"skipped\", \"how\": \"too-short\", \"functions\": 1, \"bytes\": 2}"
          "\n  ],"
          "\n  \"not-copied\": ["
          "\n    {\"state\": \"hooked\", \"how\": \"loop\", \"functions\": 1, \"bytes\": 300}"
          "\n  ]"
          "\n}\n");
}

/* Words beyond those that there is room for are not summed up. */
static void test_more_doubts_than_there_is_room_for(void **state)
{
    static char words[LIST_DOUBTS + 8][8];
    struct list list = {.is_summary = true};

    (void)state;
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < LIST_DOUBTS + 8; i++) {
            struct listed listed = {.size = 3, .reason = PATCH_PLAIN, .doubt = words[i]};

            snprintf(words[i], sizeof(words[i]), "%zu", i);
            list_function(&list, &listed);
        }
    assert_int_equal(list.doubt_count, LIST_DOUBTS);
    assert_int_equal(list.doubts[LIST_DOUBTS - 1].sum.functions, 2);
    assert_int_equal(list.doubts[LIST_DOUBTS - 1].sum.bytes, 6);
    assert_int_equal(list.sums[PATCH_PLAIN].functions, 2 * (LIST_DOUBTS + 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_for_each),
        cmocka_unit_test(test_a_column_for_doubts),
        cmocka_unit_test(test_names_are_escaped_in_json),
        cmocka_unit_test(test_sums_of_each_reason_and_of_all),
        cmocka_unit_test(test_sums_in_json),
        cmocka_unit_test(test_more_doubts_than_there_is_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
