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

/* The first that is a file's: this program's. Sanitizers have memory in front of it. */
static struct address_range *own_file(const struct address_space *space)
{
    size_t i = 0;

    while (i < space->count && space->ranges[i].path[0] != '/')
        i++;
    assert_true(i < space->count);
    return &space->ranges[i];
}

static void test_a_file_is_reached_where_it_still_is(void **state)
{
    struct program_files files;
    struct address_space space;
    struct address_range *range;
    struct failure failure;
    char path[PATH_MAX], below[PATH_MAX];

    (void)state;
    assert_true(program_files_find(&files, getpid(), &failure));
    assert_true(files.are_ours && files.is_our_namespace);
    assert_true(address_space_read(&space, getpid(), &failure));
    range = own_file(&space);
    assert_true(program_files_reach(&files, range, path));
    assert_string_equal(path, range->path);
    range->inode++;
    assert_false(program_files_reach(&files, range, path));
    range->inode--;
    files.are_ours = files.is_our_namespace = false; /* as if it were in a box */
    assert_true(program_files_reach(&files, range, path));
    assert_true(snprintf(below, sizeof(below), "/proc/%d/root%s", (int)getpid(), range->path) <
                (int)sizeof(below));
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
