/* What a filter, or a choice of addresses, makes of the functions of an image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/tool/exclude.h"

#include <cmocka.h>

/*
 * The image: at 0x400000, libsample.so of itself.
 *
 *      0x401000  alpha, which is also alias
 *      0x401020  a function without a name
 *      0x401040  beta, a name that it has from somewhere else than a symbol
 *      0x401060  gamma, which is not to be hooked anyway
 */
static const struct function original[] = {
    {.address = 0x401000, .end = 0x401020, .name = "alpha", .evidence = EVIDENCE_SYMBOL},
    {.address = 0x401020, .end = 0x401040},
    {.address = 0x401040, .end = 0x401060, .name = "beta", .evidence = EVIDENCE_CALL},
    {.address = 0x401060,
     .end = 0x401080,
     .name = "gamma",
     .evidence = EVIDENCE_SYMBOL,
     .reason = PATCH_PLT},
};

#define COUNT (sizeof(original) / sizeof(*original))

static const char *module_name(const struct image *image)
{
    (void)image;
    return "libsample.so.1";
}

static void visit_names(const struct image *image, name_visitor visit, void *context)
{
    (void)image;
    visit(context, 0x401000, "alpha");
    visit(context, 0x401000, "alias");
    visit(context, 0x401004, "inside");
    visit(context, 0x401060, "gamma");
}

static const struct image_format format = {.module_name = module_name, .visit_names = visit_names};
static const struct input_file input = {.path = "/nowhere/libsample.so"};

static struct function_list list;
static struct image image;

static int begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        function_list_add(&list, original[i]);
    function_list_settle(&list);
    image =
        (struct image){.format = &format, .input = &input, .base = 0x400000, .functions = &list};
    return 0;
}

static int end(void **state)
{
    (void)state;
    function_list_free(&list);
    return 0;
}

/* Filters by `+` and `-`, each before its pattern; what is left is "1" for each function. */
static void check(const char *const *rules, const char *left)
{
    struct filter filter = {0};

    for (; *rules; rules++)
        assert_true(filter_add(&filter, **rules == '+', *rules + 1));
    exclude_functions(&image, &filter);
    for (size_t i = 0; i < COUNT; i++) {
        bool is_left = list.items[i].reason == PATCH_UNDECIDED;

        if (is_left != (left[i] == '1'))
            fail_msg("function %zu is %sexcluded", i, is_left ? "not " : "");
        if (original[i].reason != PATCH_UNDECIDED)
            assert_int_equal(list.items[i].reason, original[i].reason);
    }
    filter_free(&filter);
}

#define CHECK(left, ...) check((const char *const[]){__VA_ARGS__, NULL}, left)

static void test_no_rule_excludes_nothing(void **state)
{
    (void)state;
    exclude_functions(&image, NULL);
    assert_int_equal(list.items[0].reason, PATCH_UNDECIDED);
    CHECK("1110", NULL);
}

static void test_any_of_its_names_chooses_a_function(void **state)
{
    (void)state;
    CHECK("1000", "+alias");
}

static void test_a_name_within_a_function_is_not_its_own(void **state)
{
    (void)state;
    CHECK("0000", "+inside");
}

static void test_a_name_from_elsewhere_counts(void **state)
{
    (void)state;
    CHECK("1100", "-beta");
}

static void test_the_module_comes_before_its_functions(void **state)
{
    (void)state;
    CHECK("0110", "+module:libsample.so.1", "-alpha");
}

static void test_the_path_is_the_module_too(void **state)
{
    (void)state;
    CHECK("0000", "-module:/nowhere/*");
}

static void test_addresses_as_linked(void **state)
{
    (void)state;
    CHECK("0110", "+0x401020-0x401060");
}

static void test_addresses_from_the_beginning(void **state)
{
    (void)state;
    CHECK("0100", "+0x1024");
}

static void test_addresses_of_this_module_alone(void **state)
{
    (void)state;
    CHECK("1010", "-libsample.so.1!0x1020", "-other.so!0x401040");
}

static void test_what_is_not_chosen_is_excluded(void **state)
{
    static const uint64_t addresses[] = {0x401000, 0x401040, 0x401060};
    struct chosen_functions only = {addresses, 3};

    (void)state;
    exclude_others(&list, &only);
    assert_int_equal(list.items[0].reason, PATCH_UNDECIDED);
    assert_int_equal(list.items[1].reason, PATCH_EXCLUDED);
    assert_int_equal(list.items[2].reason, PATCH_UNDECIDED);
    assert_int_equal(list.items[3].reason, PATCH_PLT);
}

static void test_what_finds_unwind_information(void **state)
{
    (void)state;
    list.items[1].name = "_Unwind_Find_FDE";
    list.items[1].reason = PATCH_UNWINDER;
    list.items[2].name = "_Unwind_Resume";
    list.items[2].reason = PATCH_UNWINDER;
    exclude_all_but_finder(&list);
    assert_int_equal(list.items[0].reason, PATCH_EXCLUDED);
    assert_int_equal(list.items[1].reason, PATCH_UNDECIDED);
    assert_int_equal(list.items[2].reason, PATCH_UNWINDER);
    assert_int_equal(list.items[3].reason, PATCH_PLT);
}

static void test_what_is_to_be_timed(void **state)
{
    struct filter times = {0};

    (void)state;
    choose_timed(&image, &times);
    assert_false(list.items[0].is_timed);
    assert_true(filter_add(&times, true, "alias"));
    assert_true(filter_add(&times, true, "0x401020"));
    choose_timed(&image, &times);
    assert_true(list.items[0].is_timed && list.items[1].is_timed);
    assert_false(list.items[2].is_timed || list.items[3].is_timed);
    assert_true(times.rules[0].has_matched && times.rules[1].has_matched);
    assert_int_equal(list.items[2].reason, PATCH_UNDECIDED);
    filter_free(&times);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_rule_excludes_nothing),
        TEST(test_any_of_its_names_chooses_a_function),
        TEST(test_a_name_within_a_function_is_not_its_own),
        TEST(test_a_name_from_elsewhere_counts),
        TEST(test_the_module_comes_before_its_functions),
        TEST(test_the_path_is_the_module_too),
        TEST(test_addresses_as_linked),
        TEST(test_addresses_from_the_beginning),
        TEST(test_addresses_of_this_module_alone),
        TEST(test_what_is_not_chosen_is_excluded),
        TEST(test_what_finds_unwind_information),
        TEST(test_what_is_to_be_timed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
