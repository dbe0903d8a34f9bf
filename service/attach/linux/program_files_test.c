#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "service/attach/linux/program_files.h"

#include <cmocka.h>

static void test_paths_begin_at_the_programs_root(void **state)
{
    struct program_files files = {.root = "/srv/box"};

    (void)state;
    assert_string_equal(program_files_name(&files, "/srv/box/lib/libz.so"), "/lib/libz.so");
    assert_string_equal(program_files_name(&files, "/srv/boxes/lib/libz.so"),
                        "/srv/boxes/lib/libz.so");
    assert_string_equal(program_files_name(&files, "/lib/libz.so"), "/lib/libz.so");
    files.root[0] = 0;
    assert_string_equal(program_files_name(&files, "/srv/box/lib/libz.so"), "/srv/box/lib/libz.so");
}

/* The first range is of this program itself. */
static void test_a_file_is_reached_where_it_still_is(void **state)
{
    struct program_files files;
    struct address_space space;
    struct failure failure;
    char path[PATH_MAX], below[PATH_MAX];

    (void)state;
    assert_true(program_files_find(&files, getpid(), &failure));
    assert_true(files.are_ours && files.is_our_namespace);
    assert_true(address_space_read(&space, getpid(), &failure));
    assert_true(program_files_reach(&files, &space.ranges[0], path));
    assert_string_equal(path, space.ranges[0].path);
    space.ranges[0].inode++;
    assert_false(program_files_reach(&files, &space.ranges[0], path));
    space.ranges[0].inode--;
    files.are_ours = files.is_our_namespace = false; /* as if it were in a box */
    assert_true(program_files_reach(&files, &space.ranges[0], path));
    assert_true(snprintf(below, sizeof(below), "/proc/%d/root%s", (int)getpid(),
                         space.ranges[0].path) < (int)sizeof(below));
    assert_string_equal(path, below);
    address_space_free(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_begin_at_the_programs_root),
        cmocka_unit_test(test_a_file_is_reached_where_it_still_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
