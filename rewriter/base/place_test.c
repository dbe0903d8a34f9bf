/* Where something is to be written: how a path falls into a directory and a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/base/place.h"

#include <cmocka.h>

static char folder[] = "/tmp/place_test.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* The path is of that name in the working directory. */
static void check_name(const char *path, const char *name)
{
    struct place place;
    struct failure failure;
    struct stat here, there;

    if (!place_open(&place, path, &failure))
        fail_msg("%s", failure.text);
    assert_string_equal(place.name, name);
    assert_int_equal(stat(".", &here), 0);
    assert_int_equal(fstat(place.directory, &there), 0);
    assert_int_equal(here.st_ino, there.st_ino);
    place_close(&place);
    assert_int_equal(place.directory, -1);
}

static void test_the_last_part_is_the_name(void **state)
{
    char absolute[PATH_MAX];

    (void)state;
    check_name("out", "out");
    check_name("./out", "out");
    check_name(".//out", "out");
    check_name("out/", "out");
    check_name("./out///", "out");
    check_name("...", "...");
    snprintf(absolute, sizeof(absolute), "%s/.out", folder);
    check_name(absolute, ".out");
}

static void check_refusal(const char *path, const char *text)
{
    struct place place;
    struct failure failure = {{0}};

    assert_false(place_open(&place, path, &failure));
    assert_int_equal(place.directory, -1);
    if (!strstr(failure.text, text))
        fail_msg("%s: '%s' does not say '%s'", path, failure.text, text);
    place_close(&place);
}

static void test_what_has_no_name_is_refused(void **state)
{
    (void)state;
    check_refusal("", "expected a name to write to, found ''");
    check_refusal("/", "found ''");
    check_refusal("///", "found ''");
    check_refusal(".", "found '.'");
    check_refusal("./", "found '.'");
    check_refusal("there/..", "found '..'");
    check_refusal("missing/out", "cannot write there: No such file or directory");
}

/* `./`, as often as it has room, and a name of that length */
static char *long_path(size_t size, size_t name)
{
    char *path = malloc(size + 1);

    assert_non_null(path);
    for (size_t i = 0; i < size; i++)
        path[i] = i >= size - name ? 'n' : i % 2 ? '/' : '.';
    path[size] = 0;
    return path;
}

static void test_lengths_have_limits(void **state)
{
    char *longest = long_path(PATH_MAX - 2 + NAME_MAX, NAME_MAX);
    char *deep = long_path(PATH_MAX + NAME_MAX, NAME_MAX);
    char *wide = long_path(2 + NAME_MAX + 1, NAME_MAX + 1);

    (void)state;
    check_name(longest, longest + PATH_MAX - 2);
    check_refusal(deep, "File name too long");
    check_refusal(wide, "File name too long");
    free(longest);
    free(deep);
    free(wide);
}

static void test_links_are_not_followed(void **state)
{
    struct place place;
    struct failure failure;
    struct stat status;

    (void)state;
    assert_int_equal(symlink("/", "link"), 0);
    assert_true(place_open(&place, "link", &failure));
    assert_true(place_status(&place, &status));
    assert_string_equal(kind_text(status.st_mode), "a symbolic link");
    assert_int_equal(unlink("link"), 0);
    assert_false(place_status(&place, &status));
    place_close(&place);
}

static void test_another_name_beside(void **state)
{
    char path[PATH_MAX], *long_one = long_path(PATH_MAX - 2, 2);

    (void)state;
    assert_true(path_beside(path, "/a/b/c", "other"));
    assert_string_equal(path, "/a/b/other");
    assert_true(path_beside(path, "c///", "other"));
    assert_string_equal(path, "other");
    assert_true(path_beside(path, "/c", "other"));
    assert_string_equal(path, "/other");
    assert_true(path_beside(path, long_one, "123"));
    assert_int_equal(strlen(path), PATH_MAX - 1);
    assert_false(path_beside(path, long_one, "1234"));
    free(long_one);
}

static void test_every_kind_has_a_word(void **state)
{
    (void)state;
    assert_string_equal(kind_text(S_IFREG | 0644), "a file");
    assert_string_equal(kind_text(S_IFDIR | 0755), "a directory");
    assert_string_equal(kind_text(S_IFIFO), "a pipe");
    assert_string_equal(kind_text(S_IFSOCK), "a socket");
    assert_string_equal(kind_text(S_IFBLK), "a device");
    assert_string_equal(kind_text(S_IFCHR), "a device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_part_is_the_name),
        cmocka_unit_test(test_what_has_no_name_is_refused),
        cmocka_unit_test(test_lengths_have_limits),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_another_name_beside),
        cmocka_unit_test(test_every_kind_has_a_word),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
