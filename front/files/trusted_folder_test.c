#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/files/trusted_folder.h"
#include "front/test_ground/own_folder.h"
#include "support/memory.h"

#include <cmocka.h>

/* What is in the own folder; to be freed. */
static char *absolute(const char *path)
{
    return memory_print("%s/%s", own_folder_path(), path);
}

/* Whatever the mask is. */
static void make(const char *path, mode_t mode)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* end: of the path that is found, below the own folder. */
static void expect_trusted(const char *path, const char *end)
{
    char *asked = absolute(path), *found = absolute(end);
    struct trusted_folder folder;

    assert_true(trusted_folder_open(&folder, asked));
    assert_string_equal(folder.path, found);
    assert_true(folder.folder >= 0);
    assert_null(folder.found);
    trusted_folder_close(&folder);
    free(asked);
    free(found);
}

static void expect_refused(const char *path, const char *why)
{
    char *asked = absolute(path);
    struct trusted_folder folder;

    assert_false(trusted_folder_open(&folder, asked));
    assert_int_equal(folder.folder, -1);
    assert_non_null(strstr(folder.found, why));
    trusted_folder_close(&folder);
    assert_null(folder.path);
    free(asked);
}

static void what_is_missing_is_made(void **state)
{
    struct stat status;

    (void)state;
    expect_trusted("a/b//./c/", "a/b/c");
    assert_int_equal(stat("a/b", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    expect_trusted("a/b/../d", "a/d");
}

static void what_others_may_write_is_refused(void **state)
{
    (void)state;
    make("open", 0777);
    make("sticky", 01777);
    make("file", 0700);
    expect_refused("open", "may be written by others");
    expect_refused("sticky", "may be written by others");
    own_file_write("plain", "x");
    expect_refused("plain", "is not a directory");
}

static void nothing_is_made_where_others_can_rename(void **state)
{
    (void)state;
    make("open", 0777);
    expect_refused("open/a/b", "another user can rename things");
    assert_false(own_file_is("open/a"));
    make("sticky", 01777);
    expect_trusted("sticky/a", "sticky/a");
    make("open/inner", 0700);
    expect_refused("open/inner", "another user can rename things");
}

static void links_of_ones_own_are_followed(void **state)
{
    char *target = absolute("a");

    (void)state;
    make("a", 0700);
    assert_int_equal(symlink(target, "absolute"), 0);
    assert_int_equal(symlink("../a", "a/relative"), 0);
    assert_int_equal(symlink("round", "round"), 0);
    expect_trusted("absolute/b", "a/b");
    expect_trusted("a/relative/c", "a/c");
    expect_refused("round/b", strerror(ELOOP));
    make("open", 0777);
    make("open/b", 0700);
    assert_int_equal(symlink("../open/b", "a/out"), 0);
    expect_refused("a/out", "another user can rename things");
    free(target);
}

static void a_way_is_judged_and_not_made(void **state)
{
    char *path = absolute("a"), *open_one = absolute("open"), *missing = absolute("b");

    (void)state;
    make("a", 0700);
    make("open", 0777);
    assert_true(trusted_folder_is_way(path));
    assert_false(trusted_folder_is_way(open_one));
    assert_false(trusted_folder_is_way(missing));
    assert_false(own_file_is("b"));
    free(path);
    free(open_one);
    free(missing);
}

static void what_is_above_keeps_a_folder(void **state)
{
    struct trusted_folder folder;
    char *path = absolute("a/b");

    (void)state;
    assert_true(trusted_folder_open(&folder, path));
    assert_true(trusted_folder_is_kept(folder.folder));
    assert_int_equal(chmod("a", 0777), 0);
    assert_false(trusted_folder_is_kept(folder.folder));
    assert_int_equal(chmod("a", 01777), 0);
    assert_true(trusted_folder_is_kept(folder.folder));
    trusted_folder_close(&folder);
    free(path);
}

static void another_folder_is_not_reached(void **state)
{
    struct trusted_folder folder;
    char *path = absolute("a");
    int reached;

    (void)state;
    assert_true(trusted_folder_open(&folder, path));
    reached = trusted_folder_reach(&folder);
    assert_true(reached >= 0);
    close(reached);
    assert_int_equal(rename("a", "b"), 0);
    make("a", 0700);
    assert_int_equal(trusted_folder_reach(&folder), -1);
    assert_int_equal(errno, ESTALE);
    trusted_folder_close(&folder);
    free(path);
}

static void folders_lie_within(void **state)
{
    struct trusted_folder folder, images;
    char *expected = absolute("open/a/images");

    (void)state;
    make("open", 0777);
    assert_true(trusted_folder_open_apart(&folder, "open/a"));
    assert_string_equal(folder.path, "open/a");
    assert_true(trusted_folder_open_in(&images, &folder, "images"));
    assert_string_equal(images.path, "open/a/images");
    assert_true(own_file_is("open/a/images"));
    trusted_folder_close(&images);
    assert_int_equal(chmod("open/a/images", 0770), 0);
    assert_false(trusted_folder_open_in(&images, &folder, "images"));
    trusted_folder_close(&images);
    trusted_folder_close(&folder);
    free(expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, own_folder_enter, own_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_missing_is_made),
        TEST(what_others_may_write_is_refused),
        TEST(nothing_is_made_where_others_can_rename),
        TEST(links_of_ones_own_are_followed),
        TEST(a_way_is_judged_and_not_made),
        TEST(what_is_above_keeps_a_folder),
        TEST(another_folder_is_not_reached),
        TEST(folders_lie_within),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
