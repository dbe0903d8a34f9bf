/* Patterns for source files, against this test's own debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "rewriter/functions/source_rules.h"

#include <cmocka.h>

extern const char __ehdr_start[]; /* of the linker: where this image begins */

static __attribute__((noinline)) int own_function(int number)
{
    return number + 1;
}

/* Functions of this file and of another one, one that begins in the middle of a line's code. */
enum { OWN, OTHER, MIDDLE, COUNT };

static struct function_list list;
static const uint64_t *address_of; /* by the numbers above */
static char path[4096];

static int begin(void **state)
{
    static uint64_t addresses[COUNT];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    (void)state;
    addresses[OWN] = (uint64_t)(uintptr_t)own_function - (uint64_t)(uintptr_t)__ehdr_start;
    addresses[OTHER] =
        (uint64_t)(uintptr_t)function_list_settle - (uint64_t)(uintptr_t)__ehdr_start;
    addresses[MIDDLE] = addresses[OWN] + 1;
    for (size_t i = 0; i < COUNT; i++)
        function_list_add(&list, (struct function){.address = addresses[i]});
    function_list_settle(&list);
    address_of = addresses;
    return length > 0 && own_function(1) == 2 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    function_list_free(&list);
    return 0;
}

static size_t rule_of(const size_t *rules, int number)
{
    return rules[function_list_at(&list, address_of[number]) - list.items];
}

static void test_the_last_rule_for_a_file_counts(void **state)
{
    struct filter filter = {0};
    size_t rules[COUNT] = {0};

    (void)state;
    assert_true(filter_add(&filter, true, "source:*.c"));
    assert_true(filter_add(&filter, true, "source_rules_test.c"));
    assert_true(filter_add(&filter, false, "source:*.h"));
    source_rules_match(&filter, path, &list, rules);
    assert_int_equal(rule_of(rules, OWN), 2);
    assert_int_equal(rule_of(rules, OTHER), 1);
    assert_int_equal(rule_of(rules, MIDDLE), 0);
    assert_true(filter.rules[0].has_matched && filter.rules[1].has_matched);
    filter_free(&filter);
}

static void test_a_rule_that_matched_before_is_not_lowered(void **state)
{
    struct filter filter = {0};
    size_t rules[COUNT] = {2, 2, 2};

    (void)state;
    assert_true(filter_add(&filter, true, "source:source_rules_test.c"));
    assert_true(filter_add(&filter, true, "by_its_name"));
    filter.rules[1].has_matched = true;
    source_rules_match(&filter, path, &list, rules);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(rules[i], 2);
    assert_true(filter.rules[0].has_matched && filter.rules[1].has_matched);
    filter_free(&filter);
}

static void test_without_lines_nothing_matches(void **state)
{
    struct filter filter = {0};
    size_t rules[COUNT] = {0};

    (void)state;
    assert_true(filter_add(&filter, true, "source:*"));
    source_rules_match(&filter, "/proc/self/status", &list, rules);
    source_rules_match(&filter, "/nowhere/image", &list, rules);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(rules[i], 0);
    assert_false(filter.rules[0].has_matched);
    filter_free(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_rule_for_a_file_counts),
        cmocka_unit_test(test_a_rule_that_matched_before_is_not_lowered),
        cmocka_unit_test(test_without_lines_nothing_matches),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
