#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/report/page.h"
#include "grinder/report/source_file.h"

#include <cmocka.h>

static char folder[] = "/tmp/umbra-page-XXXXXX";

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

static void a_page_where_none_can_be_is_not_begun(void **state)
{
    struct failure failure = {""};
    struct page page;

    (void)state;
    assert_false(page_begin(&page, "no/page.html", false, &failure));
    assert_string_equal(failure.text, "no/page.html: cannot be written: No such file or directory");
    assert_false(page_begin(&page, "no/page", true, &failure));
    assert_string_equal(failure.text, "no/page: cannot be made: No such file or directory");
}

/* And the page that would ask for it is not written. */
static void a_chunk_that_is_not_written_is_told_at_the_end(void **state)
{
    struct failure failure = {""};
    struct page page;

    (void)state;
    assert_true(page_begin(&page, "page", true, &failure));
    assert_int_equal(mkdir("page/s0.js", 0700), 0);
    assert_null(page_begin_chunk(&page, "s0"));
    assert_null(page_begin_chunk(&page, "s1"));
    assert_false(page_end(&page, &failure));
    assert_string_equal(failure.text,
                        "page/s0.js: cannot be written: it is a folder; name a file in it");
    assert_int_equal(rmdir("page/s0.js"), 0);
    assert_int_equal(rmdir("page"), 0);
}

static void a_source_root_is_a_folder(void **state)
{
    const char *folders[] = {"/", "/dev/null", NULL};
    struct source_roots roots;
    struct failure failure = {""};

    (void)state;
    assert_false(source_roots_begin(&roots, folders, &failure));
    assert_string_equal(failure.text,
                        "--source-root=/dev/null: expected a folder: Not a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_where_none_can_be_is_not_begun),
        cmocka_unit_test(a_chunk_that_is_not_written_is_told_at_the_end),
        cmocka_unit_test(a_source_root_is_a_folder),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
