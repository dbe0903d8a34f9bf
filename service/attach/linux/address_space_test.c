#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "service/attach/linux/address_space.h"

#include <cmocka.h>

#define PAGE 4096u

static void test_what_is_mapped(void **state)
{
    struct address_space space;
    struct failure failure;
    const struct address_range *code, *data;
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_true(address_space_read(&space, getpid(), &failure));
    code = address_space_at(&space, (uint64_t)test_what_is_mapped);
    assert_non_null(code);
    assert_true(code->is_executable && !code->is_writable && code->inode);
    assert_non_null(strstr(code->path, "address_space_test"));
    data = address_space_at(&space, (uint64_t)page);
    assert_true(data && data->is_writable && !data->is_executable);
    assert_string_equal(data->path, "");
    assert_null(address_space_at(&space, 1));
    address_space_free(&space);
    munmap(page, PAGE);
}

static void test_no_process(void **state)
{
    struct address_space space;
    struct failure failure;

    (void)state;
    assert_false(address_space_read(&space, 4194303, &failure));
    assert_non_null(strstr(failure.text, "/proc/4194303/maps"));
}

/* Ranges at 16 and 32 pages, and gaps beside them. */
static void test_gaps(void **state)
{
    struct address_space space = {0};

    (void)state;
    assert_int_equal(address_space_gap(&space, 5 * PAGE, 100 * PAGE, 3 * PAGE), 5 * PAGE);
    assert_true(address_space_take(&space, 32 * PAGE, 33 * PAGE));
    assert_true(address_space_take(&space, 16 * PAGE, 20 * PAGE + 1)); /* not of whole pages */
    assert_int_equal(space.ranges[0].start, 16 * PAGE);
    assert_int_equal(address_space_gap(&space, 0, 100 * PAGE, 15 * PAGE), 0);
    assert_int_equal(address_space_gap(&space, PAGE + 1, 100 * PAGE, 13 * PAGE), 2 * PAGE);
    assert_int_equal(address_space_gap(&space, PAGE + 1, 100 * PAGE, 14 * PAGE), 34 * PAGE);
    assert_int_equal(address_space_gap(&space, 16 * PAGE, 100 * PAGE, 9 * PAGE), 22 * PAGE);
    assert_int_equal(address_space_gap(&space, 16 * PAGE, 100 * PAGE, 10 * PAGE), 34 * PAGE);
    assert_int_equal(address_space_gap(&space, 16 * PAGE, 40 * PAGE, 10 * PAGE), 0);
    address_space_free(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_mapped),
        cmocka_unit_test(test_no_process),
        cmocka_unit_test(test_gaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
