/* A file in memory, and what is refused as one. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/base/input_file.h"
#include "rewriter/base/rights.h"

#include <cmocka.h>

static char folder[] = "/tmp/input_file_test.XXXXXX";

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) < 0 || mkdir("directory", 0700) < 0 ||
        mkfifo("pipe", 0600) < 0 || symlink("text", "link") < 0)
        return -1;
    put("text", "content");
    put("empty", "");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink("text");
    unlink("empty");
    unlink("pipe");
    unlink("link");
    rmdir("directory");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void test_what_is_written_stays_in_memory(void **state)
{
    struct input_file file;
    struct failure failure;
    char text[8] = {0};
    int descriptor = open("text", O_RDONLY);

    (void)state;
    assert_true(input_file_open(&file, "link", &failure));
    assert_string_equal(file.path, "link");
    assert_int_equal(file.size, 7);
    assert_memory_equal(file.bytes, "content", 7);
    file.bytes[0] = 'x';
    assert_int_equal(read(descriptor, text, 7), 7);
    assert_string_equal(text, "content");
    input_file_close(&file);
    assert_null(file.bytes);
    input_file_close(&file); /* may be closed again */
    close(descriptor);
}

static void test_what_is_open_already(void **state)
{
    struct input_file file;
    struct failure failure;
    int descriptor = open("text", O_RDONLY);

    (void)state;
    assert_true(input_file_take(&file, "its name", descriptor, &failure));
    input_file_close(&file);
    assert_int_equal(close(descriptor), 0); /* it stays so */
    assert_false(input_file_take(&file, "its name", -1, &failure));
    assert_string_equal(failure.text, "its name: cannot read it: Bad file descriptor");
}

static void check_refusal(const char *path, const char *text)
{
    struct input_file file;
    struct failure failure;

    assert_false(input_file_open(&file, path, &failure));
    assert_string_equal(failure.text, text);
    input_file_close(&file);
}

static void test_only_files_are_read(void **state)
{
    (void)state;
    check_refusal("directory",
                  "directory: expected a file, found a directory; name the files in it");
    check_refusal("pipe", "pipe: expected a file, found a pipe");
    check_refusal("/dev/zero", "/dev/zero: expected a file, found a device");
    check_refusal("empty", "empty: expected an ELF image, found an empty file");
    check_refusal("missing", "missing: cannot read it: No such file or directory");
}

static void check_rights(mode_t mode, unsigned expected)
{
    struct input_file file;
    struct failure failure;

    assert_int_equal(chmod("text", mode), 0);
    assert_true(input_file_open(&file, "text", &failure));
    assert_int_equal(file.rights, expected);
    input_file_close(&file);
}

static void test_rights_that_it_lends(void **state)
{
    (void)state;
    check_rights(0755, 0);
    check_rights(04755, RIGHTS_SET_UID);
    check_rights(02755, RIGHTS_SET_GID);
    check_rights(06755, RIGHTS_SET_UID | RIGHTS_SET_GID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_stays_in_memory),
        cmocka_unit_test(test_what_is_open_already),
        cmocka_unit_test(test_only_files_are_read),
        cmocka_unit_test(test_rights_that_it_lends),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
