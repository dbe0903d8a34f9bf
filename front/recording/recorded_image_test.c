#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/recording/recorded_image.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

static struct recording recording;

/* All at the same time: a size and a time say nothing of the content. */
static void add_copy(const char *name, const char *content)
{
    const struct timespec times[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};

    own_file_write(name, content);
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static int enter(void **state)
{
    if (own_folder_enter(state) < 0 || mkdir("r", 0700) < 0)
        return -1;
    own_file_write("r/recording", RECORDING_FIRST_LINE);
    add_copy("first", "1");
    add_copy("second", "2");
    recording_open(&recording, "r");
    return 0;
}

static int leave(void **state)
{
    recording_free(&recording);
    return own_folder_leave(state);
}

static void the_agent_and_linkers_are_never_instrumented(void **state)
{
    (void)state;
    assert_true(image_is_never_instrumented("/usr/lib/umbra/libhooks.so"));
    assert_true(image_is_never_instrumented("/usr/lib/umbra/libhooks32.so"));
    assert_true(image_is_never_instrumented("/lib64/ld-linux-x86-64.so.2"));
    assert_true(image_is_never_instrumented("/lib/ld-musl-x86_64.so.1"));
    assert_true(image_is_never_instrumented("ld-2.31.so"));
    assert_false(image_is_never_instrumented("/usr/bin/ld-tool"));
    assert_false(image_is_never_instrumented("/usr/bin/ld.so"));
    assert_false(image_is_never_instrumented("/opt/ld-linux.so/libfoo"));
    assert_false(image_is_never_instrumented("/usr/lib/libhooks.so.1"));
}

static bool has_rights(const char *path)
{
    int file = open(path, O_PATH | O_CLOEXEC);
    bool has = image_has_rights(file);

    close(file);
    return has;
}

static void set_uid_gives_rights(void **state)
{
    (void)state;
    assert_false(has_rights("first"));
    assert_int_equal(chmod("first", 04755), 0);
    assert_true(has_rights("first"));
    assert_int_equal(chmod("first", 02755), 0);
    assert_true(has_rights("first"));
    assert_int_equal(chmod("first", 01755), 0);
    assert_false(has_rights("first"));
    assert_true(has_rights("none"));
}

static void a_note_is_one_line(void **state)
{
    char *text;

    (void)state;
    recorded_image_note(&recording, "left", "/a\tb\nc", "why\nnot");
    recorded_image_note(&recording, "instrumented", "/d", "images/d");
    text = own_file_read("r/files");
    assert_string_equal(text, "left\t/a?b?c\twhy?not\ninstrumented\t/d\timages/d\n");
    free(text);
}

/* Null where it is refused. */
static void expect_kept(const char *path, const char *copy, const char *expected)
{
    int file = open(copy, O_RDONLY | O_CLOEXEC);
    char *image = recorded_image_keep(&recording, path, file);

    if (expected)
        assert_string_equal(image, expected);
    else
        assert_null(image);
    free(image);
    close(file);
}

static void another_file_of_the_same_path_has_a_version(void **state)
{
    struct stat kept, copy;

    (void)state;
    expect_kept("/usr/bin/perl", "first", "images/usr/bin/perl");
    expect_kept("/usr/bin/perl", "first", "images/usr/bin/perl");
    expect_kept("/usr/bin/perl", "second", "images/usr/bin/perl~2");
    expect_kept("/usr/bin/perl", "second", "images/usr/bin/perl~2");
    add_copy("third", "33");
    expect_kept("/usr/bin/perl", "third", "images/usr/bin/perl~3");
    expect_kept("/usr/bin/perl", "first", "images/usr/bin/perl");
    assert_int_equal(stat("r/images/usr/bin/perl~2", &kept), 0);
    assert_int_equal(stat("second", &copy), 0);
    assert_int_equal(kept.st_ino, copy.st_ino); /* a link costs nothing */
}

static void no_path_leads_out_of_the_recording(void **state)
{
    (void)state;
    expect_kept("usr/bin/perl", "first", NULL);
    assert_int_equal(errno, EINVAL);
    expect_kept("/../perl", "first", NULL);
    expect_kept("/usr/..", "first", NULL);
    expect_kept("/usr/../../../perl", "first", NULL);
    expect_kept("/usr/./perl", "first", NULL);
    expect_kept("/usr/..perl", "first", "images/usr/..perl");
    assert_false(own_file_is("perl"));
    assert_false(own_file_is("r/perl"));
}

static void what_lies_there_instead_is_not_opened(void **state)
{
    int copy = open("first", O_RDONLY | O_CLOEXEC), image;
    struct stat status, expected;

    (void)state;
    expect_kept("/a", "first", "images/a");
    image = recorded_image_open(&recording, "images/a", copy, &status);
    assert_true(image >= 0);
    assert_int_equal(fstat(copy, &expected), 0);
    assert_int_equal(status.st_ino, expected.st_ino);
    close(image);
    assert_int_equal(rename("second", "r/images/a"), 0);
    assert_true(recorded_image_open(&recording, "images/a", copy, &status) < 0);
    assert_int_equal(errno, ESTALE);
    unlink("r/images/a");
    assert_true(recorded_image_open(&recording, "images/a", copy, &status) < 0);
    assert_int_equal(errno, ENOENT);
    close(copy);
}

/* From another file system or mount, where there can be no link. */
static void a_copy_of_the_copy_serves(void **state)
{
    int copy = open("first", O_RDONLY | O_CLOEXEC), image;
    struct stat status;

    (void)state;
    mkdir("r/images", 0700);
    add_copy("r/images/a", "1");
    expect_kept("/a", "first", "images/a");
    image = recorded_image_open(&recording, "images/a", copy, &status);
    assert_true(image >= 0);
    close(image);
    assert_int_equal(utimensat(AT_FDCWD, "r/images/a", NULL, 0), 0);
    assert_true(recorded_image_open(&recording, "images/a", copy, &status) < 0);
    close(copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_agent_and_linkers_are_never_instrumented),
        TEST(set_uid_gives_rights),
        TEST(a_note_is_one_line),
        TEST(another_file_of_the_same_path_has_a_version),
        TEST(no_path_leads_out_of_the_recording),
        TEST(what_lies_there_instead_is_not_opened),
        TEST(a_copy_of_the_copy_serves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
