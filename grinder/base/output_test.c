#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/base/output.h"

#include <cmocka.h>

static char folder[] = "/tmp/umbra-output-XXXXXX";

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void expect_unopened(const char *path, const char *expected)
{
    struct failure failure = {""};
    struct output output;

    assert_false(output_open(&output, path, &failure));
    assert_string_equal(failure.text, expected);
    assert_false(output_open_private(&output, path, &failure));
    assert_string_equal(failure.text, expected);
}

static void what_cannot_be_a_file_is_not_opened(void **state)
{
    (void)state;
    expect_unopened("/", "/: cannot be written: it is a folder; name a file in it");
    expect_unopened("no/such", "no/such: cannot be written: No such file or directory");
}

/* The file is a device, which is written as it is. */
static void a_write_that_failed_is_told_at_the_end(void **state)
{
    struct failure failure = {""};
    struct output output;

    (void)state;
    assert_true(output_open(&output, "/dev/full", &failure));
    fputs("text", output.stream);
    assert_false(output_commit(&output, &failure));
    assert_string_equal(failure.text, "/dev/full: cannot be written: No space left on device");
}

static size_t count_files(void)
{
    DIR *entries = opendir(".");
    size_t count = 0;

    while (readdir(entries))
        count++;
    closedir(entries);
    return count - 2;
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
    struct failure failure = {""};
    struct output output;

    (void)state;
    assert_true(output_open(&output, "file", &failure));
    fputs("text", output.stream);
    assert_int_equal(access("file", F_OK), -1);
    assert_true(output_commit(&output, &failure));
    assert_int_equal(access("file", F_OK), 0);
    assert_int_equal(count_files(), 1);
    assert_string_equal(failure.text, "");
    assert_int_equal(unlink("file"), 0);
}

/* stdio says that something failed, not why: nothing does any more. */
static void an_earlier_write_that_failed_leaves_nothing(void **state)
{
    struct failure failure = {""};
    struct output output;
    char byte;

    (void)state;
    assert_true(output_open(&output, "file", &failure));
    assert_int_equal(fread(&byte, 1, 1, output.stream), 0); /* sets what ferror tells */
    assert_false(output_commit(&output, &failure));
    assert_string_equal(failure.text, "file: cannot be written: an earlier write failed");
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_a_file_is_not_opened),
        cmocka_unit_test(a_write_that_failed_is_told_at_the_end),
        cmocka_unit_test(a_file_appears_whole_or_not_at_all),
        cmocka_unit_test(an_earlier_write_that_failed_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
