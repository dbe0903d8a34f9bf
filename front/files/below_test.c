#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/files/below.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

static int top; /* the working directory */

static int enter(void **state)
{
    if (own_folder_enter(state) < 0)
        return -1;
    top = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return top < 0 ? -1 : 0;
}

static int leave(void **state)
{
    close(top);
    return own_folder_leave(state);
}

static void expect_refused(const char *path, int error)
{
    int file = below_open(top, path, O_RDONLY, 0);

    assert_true(file < 0);
    assert_int_equal(errno, error);
}

static void no_path_leads_out(void **state)
{
    int file;

    (void)state;
    mkdir("a", 0700);
    own_file_write("a/b", "x");
    expect_refused("/etc/passwd", EINVAL);
    expect_refused("../x", EINVAL);
    expect_refused("a/../a/b", EINVAL);
    expect_refused("a/..", EINVAL);
    expect_refused("./a/b", EINVAL);
    expect_refused("a//b", EINVAL);
    expect_refused("a/", EINVAL);
    expect_refused("", EINVAL);
    expect_refused("a/c", ENOENT);
    file = below_open(top, "a/b", O_RDONLY, 0);
    assert_true(file >= 0);
    close(file);
}

static void names_have_a_length(void **state)
{
    char path[NAME_MAX + 4];

    (void)state;
    memset(path, 'x', sizeof(path));
    path[NAME_MAX + 1] = 0;
    expect_refused(path, ENAMETOOLONG);
    memcpy(path + NAME_MAX + 1, "/y", 3);
    expect_refused(path, ENAMETOOLONG);
    path[NAME_MAX] = 0;
    expect_refused(path, ENOENT);
}

static void no_link_is_followed(void **state)
{
    (void)state;
    mkdir("a", 0700);
    own_file_write("a/b", "x");
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(symlink("b", "a/link"), 0);
    expect_refused("link/b", ENOTDIR);
    expect_refused("a/link", ELOOP);
}

static void only_regular_files_are_read(void **state)
{
    int file;

    (void)state;
    mkdir("a", 0700);
    mkfifo("pipe", 0600);
    assert_true(below_open_file(top, "a") < 0);
    assert_int_equal(errno, EINVAL);
    assert_true(below_open_file(top, "pipe") < 0);
    assert_int_equal(errno, EINVAL);
    assert_true(below_open_to_append(top, "pipe") < 0);
    assert_int_equal(errno, EINVAL);
    assert_true(below_open_file(top, "none") < 0);
    assert_int_equal(errno, ENOENT);
    file = below_open_to_append(top, "a/new");
    assert_int_equal(write(file, "x", 1), 1);
    close(file);
    file = below_open_to_append(top, "a/new");
    assert_int_equal(write(file, "y", 1), 1);
    close(file);
    file = below_open_file(top, "a/new");
    assert_true(file >= 0);
    assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(lseek(file, 0, SEEK_END), 2);
    close(file);
}

static void folders_are_made_for_their_owner(void **state)
{
    struct stat status;
    const char *name;
    int folder = below_make_folders(top, "images/usr/bin/perl", &name);

    (void)state;
    assert_true(folder >= 0);
    assert_string_equal(name, "perl");
    assert_int_equal(stat("images/usr/bin", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_false(own_file_is("images/usr/bin/perl"));
    close(folder);
    folder = below_make_folders(top, "file", &name);
    assert_true(below_is_same(folder, top));
    assert_string_equal(name, "file");
    close(folder);
    assert_int_equal(symlink("/tmp", "images/link"), 0);
    assert_true(below_make_folders(top, "images/link/x", &name) < 0);
    assert_true(below_make_folders(top, "images/../../x", &name) < 0);
    assert_int_equal(errno, EINVAL);
}

static void a_folder_is_emptied(void **state)
{
    int folder;

    (void)state;
    mkdir("a", 0700);
    mkdir("a/b", 0700);
    mkdir("a/empty", 0700);
    own_file_write("a/b/c", "x");
    own_file_write("a/d", "x");
    own_file_write("outside", "x");
    assert_int_equal(symlink("../outside", "a/link"), 0);
    folder = open("a", O_PATH | O_DIRECTORY | O_CLOEXEC);
    below_empty(folder);
    close(folder);
    assert_int_equal(rmdir("a"), 0);
    assert_true(own_file_is("outside"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_path_leads_out, enter, leave),
        cmocka_unit_test_setup_teardown(names_have_a_length, enter, leave),
        cmocka_unit_test_setup_teardown(no_link_is_followed, enter, leave),
        cmocka_unit_test_setup_teardown(only_regular_files_are_read, enter, leave),
        cmocka_unit_test_setup_teardown(folders_are_made_for_their_owner, enter, leave),
        cmocka_unit_test_setup_teardown(a_folder_is_emptied, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
