#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/base/file.h"

#include <cmocka.h>

static char folder[] = "/tmp/file-XXXXXX";

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    unlink("link");
    unlink("x");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void a_file_that_ends_too_early_is_a_reason(void **state)
{
    int file = file_create(AT_FDCWD, "x");
    char bytes[8];

    (void)state;
    assert_true(file_write_at(file, "1234", 4, 0));
    assert_true(file_read_at(file, bytes, 4, 0));
    errno = 0;
    assert_false(file_read_at(file, bytes, 8, 0));
    assert_int_equal(errno, ENODATA);
    errno = ENOENT; /* of something else */
    assert_false(file_read_at(file, bytes, 1, 100));
    assert_int_equal(errno, ENODATA);
    file_close(file);
}

static void a_file_is_replaced_and_not_what_it_links_to(void **state)
{
    struct stat status;
    char bytes[8];

    (void)state;
    assert_true(file_replace("x", "old", 3));
    assert_int_equal(symlink("x", "link"), 0);
    assert_true(file_replace("link", "new", 3));
    assert_int_equal(file_read_own("link", bytes, sizeof(bytes)), 3);
    assert_memory_equal(bytes, "new", 3);
    assert_int_equal(file_read_own("x", bytes, sizeof(bytes)), 3);
    assert_memory_equal(bytes, "old", 3);
    assert_int_equal(stat("link", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_false(file_replace("nowhere/x", "new", 3));
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_ends_too_early_is_a_reason),
        cmocka_unit_test(a_file_is_replaced_and_not_what_it_links_to),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
