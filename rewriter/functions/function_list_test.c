/* The list of functions: what is found twice, how far each goes, and which has an address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/functions/function_list.h"

#include <cmocka.h>

static void test_an_empty_list_has_nothing(void **state)
{
    struct function_list list = {0};

    (void)state;
    function_list_settle(&list);
    assert_int_equal(list.count, 0);
    assert_null(function_list_below(&list, UINT64_MAX));
    assert_null(function_list_at(&list, 0));
    assert_null(function_list_owner(&list, 0));
    function_list_free(&list);
}

static void test_finds_of_one_address_become_one(void **state)
{
    struct function_list list = {0};

    (void)state;
    function_list_add(&list, (struct function){.address = 0x2000, .end = 0x2010, .name = "two"});
    function_list_add(&list, (struct function){.address = 0x1000,
                                               .end = 0x1040,
                                               .evidence = EVIDENCE_CALL,
                                               .reason = PATCH_SIGNAL_FRAME});
    function_list_add(&list, (struct function){.address = 0x1000,
                                               .end = 0x1020,
                                               .unwind = 7,
                                               .evidence = EVIDENCE_UNWIND | EVIDENCE_EXTENT,
                                               .is_guarded = true,
                                               .prologue = 9});
    function_list_add(&list, (struct function){.address = 0x1000,
                                               .end = 0x1080,
                                               .name = "one",
                                               .evidence = EVIDENCE_SYMBOL,
                                               .reason = PATCH_EXCLUDED});
    function_list_settle(&list);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].address, 0x1000);
    assert_string_equal(list.items[0].name, "one");
    assert_int_equal(list.items[0].unwind, 7);
    assert_int_equal(list.items[0].end, 0x1020); /* the FDE knows best */
    assert_int_equal(list.items[0].evidence,
                     EVIDENCE_CALL | EVIDENCE_UNWIND | EVIDENCE_EXTENT | EVIDENCE_SYMBOL);
    assert_true(list.items[0].is_guarded);
    assert_int_equal(list.items[0].prologue, 9);
    assert_int_not_equal(list.items[0].reason, PATCH_UNDECIDED);
    assert_string_equal(list.items[1].name, "two");
    function_list_free(&list);
}

static void test_what_follows_limits_what_has_no_extent(void **state)
{
    struct function_list list = {0};

    (void)state;
    function_list_add(&list, (struct function){.address = 0x1000, .end = 0x9000});
    function_list_add(&list, (struct function){.address = 0x1010, .end = 0x1018});
    function_list_add(
        &list, (struct function){.address = 0x1020, .end = 0x9000, .evidence = EVIDENCE_EXTENT});
    function_list_add(&list, (struct function){.address = 0x1030, .end = 0x9000});
    function_list_settle(&list);
    assert_int_equal(list.items[0].end, 0x1010);
    assert_int_equal(list.items[1].end, 0x1018);
    assert_int_equal(list.items[2].end, 0x9000);
    assert_int_equal(list.items[3].end, 0x9000);
    function_list_free(&list);
}

static const struct function *below_by_walking(const struct function_list *list, uint64_t address)
{
    const struct function *found = NULL;

    for (size_t i = 0; i < list->count && list->items[i].address <= address; i++)
        found = &list->items[i];
    return found;
}

/* At each function, and the bytes before and behind it. */
static void check_look_ups(const struct function_list *list)
{
    assert_ptr_equal(function_list_below(list, 0), below_by_walking(list, 0));
    assert_ptr_equal(function_list_below(list, UINT64_MAX), &list->items[list->count - 1]);
    for (size_t i = 0; i < list->count; i++) {
        uint64_t address = list->items[i].address;

        assert_ptr_equal(function_list_at(list, address), &list->items[i]);
        assert_ptr_equal(function_list_below(list, address), &list->items[i]);
        assert_ptr_equal(function_list_below(list, address + 1),
                         below_by_walking(list, address + 1));
        assert_ptr_equal(function_list_below(list, address - 1),
                         below_by_walking(list, address - 1));
    }
}

/* However functions are spread, the index leads to the same ones as a walk. */
static void test_an_address_leads_to_the_last_function_below(void **state)
{
    static const unsigned widths[] = {1, 4, 17, 40, 63};

    (void)state;
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
        for (size_t count = 1; count <= 200; count += 33) {
            struct function_list list = {0};
            uint64_t random = 1;

            for (size_t j = 0; j < count; j++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                function_list_add(&list,
                                  (struct function){.address = 2 + (random >> (64 - widths[i]))});
            }
            function_list_settle(&list);
            check_look_ups(&list);
            function_list_free(&list);
        }
}

static void test_an_addition_is_found_before_it_is_settled(void **state)
{
    struct function_list list = {0};

    (void)state;
    function_list_add(&list, (struct function){.address = 0x1000});
    function_list_settle(&list);
    function_list_add(&list, (struct function){.address = 0x2000});
    assert_non_null(function_list_at(&list, 0x2000));
    function_list_settle(&list);
    check_look_ups(&list);
    function_list_free(&list);
}

static void test_what_is_in_the_middle_has_an_owner(void **state)
{
    struct function_list list = {0};

    (void)state;
    function_list_add(&list, (struct function){.address = 0x800, .reason = PATCH_INSIDE_FUNCTION});
    function_list_add(&list, (struct function){.address = 0x1000});
    function_list_add(&list, (struct function){.address = 0x1004, .reason = PATCH_INSIDE_FUNCTION});
    function_list_add(&list, (struct function){.address = 0x1008, .reason = PATCH_INSIDE_FUNCTION});
    function_list_add(&list, (struct function){.address = 0x2000});
    function_list_settle(&list);
    assert_int_equal(function_list_owner(&list, 0x1000)->address, 0x1000);
    assert_int_equal(function_list_owner(&list, 0x1009)->address, 0x1000);
    assert_int_equal(function_list_owner(&list, 0x2001)->address, 0x2000);
    assert_null(function_list_owner(&list, 0x800)); /* nothing is before it */
    assert_null(function_list_owner(&list, 0x7ff));
    function_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_list_has_nothing),
        cmocka_unit_test(test_finds_of_one_address_become_one),
        cmocka_unit_test(test_what_follows_limits_what_has_no_extent),
        cmocka_unit_test(test_an_address_leads_to_the_last_function_below),
        cmocka_unit_test(test_an_addition_is_found_before_it_is_settled),
        cmocka_unit_test(test_what_is_in_the_middle_has_an_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
