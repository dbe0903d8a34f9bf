#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/views/same_build.h"

#include <cmocka.h>

#define REST "the environment (env -i), files, time or random numbers"

/* Images of one program in two folders, of its next build, of it with imports, of a library, and of
 * a baseline that knows no builds. */
enum { UNKNOWN, HERE, THERE, NEXT, OTHERWISE, LIBRARY, LISTED, IMAGES };

static struct listed_function listed;
static struct image images_of_test[IMAGES] = {
    [HERE] = {.path = "/here/demo", .original_hash = 1},
    [THERE] = {.path = "/there/demo", .original_hash = 1},
    [NEXT] = {.path = "/here/demo", .original_hash = 2},
    [OTHERWISE] = {.path = "/here/demo", .original_hash = 1, .function_count = 1},
    [LIBRARY] = {.path = "/lib/libdemo.so", .original_hash = 3},
    [LISTED] = {.path = "demo", .listed = &listed},
};
static struct function functions[IMAGES] = {
    [HERE] = {.image = HERE},       [THERE] = {.image = THERE},
    [NEXT] = {.image = NEXT},       [OTHERWISE] = {.image = OTHERWISE},
    [LIBRARY] = {.image = LIBRARY}, [LISTED] = {.image = LISTED},
};
static const struct images images = {
    .images = images_of_test, .count = IMAGES, .functions = functions};

static bool are_same(const uint32_t *left, size_t left_count, const uint32_t *right,
                     size_t right_count)
{
    struct part parts[2] = {0};
    struct profile profiles[2] = {{.parts = &parts[0], .part_count = 1},
                                  {.parts = &parts[1], .part_count = 1}};
    bool is_same;

    for (size_t i = 0; i < left_count; i++)
        cost_table_at(&parts[0].functions, left[i], 0);
    for (size_t i = 0; i < right_count; i++)
        cost_table_at(&parts[1].functions, right[i], 0);
    is_same = same_build(&images, &profiles[0], &profiles[1]);
    for (size_t i = 0; i < 2; i++) {
        pair_index_free(&parts[i].functions.keys);
        free(parts[i].functions.costs);
    }
    return is_same;
}

static void builds_are_told_by_content(void **state)
{
    const uint32_t here[] = {HERE}, there[] = {THERE}, next[] = {NEXT};
    const uint32_t otherwise[] = {OTHERWISE};
    const uint32_t both[] = {LIBRARY, HERE}, both_there[] = {THERE, LIBRARY};
    const uint32_t from_list[] = {LISTED}, unknown[] = {UNKNOWN}, beside[] = {HERE, UNKNOWN};

    (void)state;
    assert_true(are_same(here, 1, here, 1));
    assert_true(are_same(here, 1, there, 1));
    assert_true(are_same(both, 2, both_there, 2));
    assert_true(are_same(here, 1, beside, 2));
    assert_false(are_same(here, 1, next, 1));
    assert_false(are_same(here, 1, otherwise, 1));
    assert_false(are_same(here, 1, both, 2));
    assert_false(are_same(both, 2, here, 1));
    assert_false(are_same(here, 1, from_list, 1));
    assert_false(are_same(unknown, 1, unknown, 1));
}

static void expect_causes(struct process *left, struct process *right, const char *expected)
{
    struct profile profiles[2] = {{.processes = left, .process_count = 1},
                                  {.processes = right, .process_count = 1}};
    char *causes = same_build_causes(&images, &profiles[0], &profiles[1]);

    assert_string_equal(causes, expected);
    free(causes);
}

static void what_recordings_tell_comes_first(void **state)
{
    struct module_facts here = {.path = "/here/demo", .image = HERE, .base = 0x1000};
    struct module_facts moved = {.path = "/there/demo", .image = THERE, .base = 0x2000};
    struct module_facts library = {.path = "/lib/libpython3.so"};
    struct process left = {.modules = &here, .module_count = 1}, right = left;

    (void)state;
    expect_causes(&left, &right, "addresses (setarch -R), " REST);
    right.modules = &moved;
    expect_causes(&left, &right, "addresses, which were not the same (setarch -R), " REST);
    right.modules = &here;
    left.header.base = right.header.base = 4096;
    expect_causes(&left, &right, REST);
    right.header.base = 8192;
    expect_causes(&left, &right, "addresses, which were not the same (setarch -R), " REST);
    right.header.base = 4096;
    right.thread_count = 2;
    expect_causes(&left, &right, "what threads do first, " REST);
    right.thread_count = 1;
    strcpy(left.header.exe, "/usr/bin/python3.11");
    right.modules = &library;
    expect_causes(&left, &right, "python's hashes (PYTHONHASHSEED=0), " REST);
    right.modules = &here;
    strcpy(left.header.exe, "/usr/bin/perl");
    expect_causes(&left, &right, "perl's hashes (PERL_HASH_SEED=0), " REST);
    strcpy(left.header.exe, "/here/demo");
    strcpy(left.header.command, "demo 1");
    strcpy(right.header.command, "/there/demo 1");
    expect_causes(&left, &right, REST);
    strcpy(right.header.command, "demo 2");
    expect_causes(&left, &right, "arguments, which were not the same, " REST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_are_told_by_content),
        cmocka_unit_test(what_recordings_tell_comes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
