/* Files of Windows by the functions that the service has for them, in a directory of its own. */
#include <winsock2.h>
#include <windows.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"

#include <cmocka.h>

static const char folder[] = "file_test.d\xc3\xa4";

static char *absolute; /* of the folder */
static int directory;

static int begin(void **state)
{
    (void)state;
    if (!file_make_directory(folder) || !file_make_directory(folder)) /* it may be there */
        return -1;
    directory = file_open_directory(folder, &absolute);
    return directory < 0;
}

static int end(void **state)
{
    (void)state;
    free(absolute);
    file_close(directory);
    return !RemoveDirectoryW(L"file_test.d\u00e4");
}

static void test_a_directory_has_a_plain_path(void **state)
{
    size_t length = strlen(absolute), stem = strlen(folder);

    (void)state;
    assert_true(length > stem + 3);
    assert_memory_equal(absolute + 1, ":\\", 2);
    assert_string_equal(absolute + length - stem, folder);
}

static void check_no_directory(const char *path, int number)
{
    char *unused;

    errno = 0;
    assert_int_equal(file_open_directory(path, &unused), -1);
    assert_null(unused);
    assert_int_equal(errno, number);
}

static void test_what_is_no_directory(void **state)
{
    char path[64];

    (void)state;
    file_close(file_create(directory, "x"));
    snprintf(path, sizeof(path), "%s/x", folder);
    check_no_directory(path, ENOTDIR);
    file_remove(directory, "x");
    check_no_directory(path, ENOENT);
    check_no_directory("file_test\xff", EILSEQ);
}

static void test_a_file_is_made_once(void **state)
{
    int file = file_create(directory, "x");

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(file_create(directory, "x"), -1);
    assert_int_equal(errno, EEXIST);
    assert_true(file_identity(file) != 0);
    file_close(file);
    file_remove(directory, "x");
}

static void test_a_file_that_ends_too_early_is_a_reason(void **state)
{
    int file = file_create(directory, "x");
    char bytes[8];

    (void)state;
    assert_true(file_write_at(file, "1234", 4, 0));
    assert_true(file_read_at(file, bytes, 2, 2));
    assert_memory_equal(bytes, "34", 2);
    errno = 0;
    assert_false(file_read_at(file, bytes, 8, 0));
    assert_int_equal(errno, ENODATA);
    errno = 0;
    assert_false(file_read_at(file, bytes, 1, 100));
    assert_int_equal(errno, ENODATA);
    assert_true(file_cut(file, 2, true));
    assert_false(file_read_at(file, bytes, 3, 0));
    assert_true(file_extend(file, 8));
    assert_true(file_read_at(file, bytes, 8, 0));
    assert_memory_equal(bytes, "12\0\0\0\0\0", 8);
    file_close(file);
    file_remove(directory, "x");
}

static void test_places_beyond_four_gigabytes(void **state)
{
    int file = file_create(directory, "x");
    uint64_t place = ((uint64_t)1 << 32) + 10;
    char byte = 0;

    (void)state;
    assert_true(file_extend(file, place + 1));
    assert_true(file_write_at(file, "x", 1, place));
    assert_true(file_read_at(file, &byte, 1, 10));
    assert_int_equal(byte, 0);
    assert_true(file_read_at(file, &byte, 1, place));
    assert_int_equal(byte, 'x');
    file_close(file);
    file_remove(directory, "x");
}

static void test_a_file_is_replaced(void **state)
{
    char path[64], bytes[8];

    (void)state;
    snprintf(path, sizeof(path), "%s\\x", folder);
    assert_true(file_replace(path, "first", 5));
    assert_true(file_replace_in(directory, "x", "new", 3));
    assert_int_equal(file_read_own(path, bytes, sizeof(bytes)), 3);
    assert_memory_equal(bytes, "new", 3);
    assert_int_equal(file_read_own(path, bytes, 2), 2);
    file_remove_path(path);
    errno = 0;
    assert_int_equal(file_read_own(path, bytes, sizeof(bytes)), -1);
    assert_int_equal(errno, ENOENT);
    assert_true(file_sync(directory, "x")); /* of one that is gone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_directory_has_a_plain_path),
        cmocka_unit_test(test_what_is_no_directory),
        cmocka_unit_test(test_a_file_is_made_once),
        cmocka_unit_test(test_a_file_that_ends_too_early_is_a_reason),
        cmocka_unit_test(test_places_beyond_four_gigabytes),
        cmocka_unit_test(test_a_file_is_replaced),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
