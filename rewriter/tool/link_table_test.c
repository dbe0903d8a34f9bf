#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rewriter/tool/link_table.h"

#include <cmocka.h>

static void test_a_file_of_one_name_is_not_kept(void **state)
{
    struct stat status = {.st_dev = 1, .st_ino = 2, .st_nlink = 1};
    struct link_table table = {0};

    (void)state;
    link_table_add(&table, &status, "copy");
    assert_int_equal(table.count, 0);
    assert_null(link_table_find(&table, &status));
    link_table_free(&table);
}

static void test_device_and_inode_tell_files_apart(void **state)
{
    struct stat status = {.st_dev = 1, .st_ino = 2, .st_nlink = 2};
    struct stat device = {.st_dev = 2, .st_ino = 2, .st_nlink = 2};
    struct stat inode = {.st_dev = 1, .st_ino = 1, .st_nlink = 2};
    struct link_table table = {0};
    char name[] = "copy";

    (void)state;
    assert_null(link_table_find(&table, &status));
    link_table_add(&table, &status, name);
    name[0] = 'x'; /* the table has its own */
    assert_string_equal(link_table_find(&table, &status), "copy");
    assert_null(link_table_find(&table, &device));
    assert_null(link_table_find(&table, &inode));
    status.st_nlink = 1; /* the other name was removed meanwhile */
    assert_null(link_table_find(&table, &status));
    link_table_free(&table);
    assert_int_equal(table.count, 0);
}

static void test_many_files(void **state)
{
    struct stat status = {.st_dev = 1, .st_nlink = 3};
    struct link_table table = {0};
    char name[16];

    (void)state;
    for (status.st_ino = 0; status.st_ino < 1000; status.st_ino++) {
        snprintf(name, sizeof(name), "file%u", (unsigned)status.st_ino);
        link_table_add(&table, &status, name);
    }
    for (status.st_ino = 0; status.st_ino < 1000; status.st_ino++) {
        snprintf(name, sizeof(name), "file%u", (unsigned)status.st_ino);
        assert_string_equal(link_table_find(&table, &status), name);
    }
    link_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_of_one_name_is_not_kept),
        cmocka_unit_test(test_device_and_inode_tell_files_apart),
        cmocka_unit_test(test_many_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
