#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/bounded_file.h"

#include <cmocka.h>

static char folder[] = "/tmp/bounded-file-XXXXXX";

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    unlink("pipe");
    unlink("link");
    unlink("text");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void expect_refused(const char *path, const char *wanted)
{
    struct bounded_file file;
    struct failure failure = {""};

    assert_false(bounded_file_open(&file, path, &failure));
    assert_string_equal(failure.text, wanted);
    assert_int_equal(file.fd, -1);
}

static void what_is_no_file_is_never_opened(void **state)
{
    char event[4096];
    int watch = inotify_init1(IN_NONBLOCK);

    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_true(inotify_add_watch(watch, "pipe", IN_OPEN) >= 0);
    expect_refused("pipe", "is not a regular file");
    assert_int_equal(read(watch, event, sizeof(event)), -1); /* a writer would still wait */
    close(watch);
    expect_refused("/dev/zero", "is not a regular file");
    expect_refused(folder, "is not a regular file");
    expect_refused("nothing", "No such file or directory");
}

static void pieces_are_within_the_file(void **state)
{
    FILE *text = fopen("text", "w");
    struct bounded_file file;
    struct failure failure;
    char *copy;

    (void)state;
    fputs("some text", text);
    fclose(text);
    assert_int_equal(symlink("text", "link"), 0);
    assert_true(bounded_file_open(&file, "link", &failure));
    assert_int_equal(file.size, 9);
    copy = bounded_file_copy(&file, 5, 4);
    assert_string_equal(copy, "text");
    free(copy);
    assert_null(bounded_file_copy(&file, 5, 5));
    assert_null(bounded_file_copy(&file, UINT64_MAX, 1));
    assert_int_equal(truncate("text", 3), 0);
    assert_null(bounded_file_copy(&file, 0, 9));
    bounded_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_file_is_never_opened),
        cmocka_unit_test(pieces_are_within_the_file),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
