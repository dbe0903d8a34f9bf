/* A directory that appears whole or not at all, however the process ends that fills it. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewriter/tool/tree_keeper.h"

#include <cmocka.h>

static char folder[] = "/tmp/tree_keeper_test.XXXXXX";

enum end { END_WELL, END_FAILED, END_SILENT, END_EXIT, END_SIGNAL };

static int make_folder(void **state)
{
    struct rlimit none = {0};

    (void)state;
    setrlimit(RLIMIT_CORE, &none);
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* Puts a file there, and ends as the context says. cmocka has a macro of fail's name. */
static bool fill(const char *directory, const void *context, void *result, struct failure *failure)
{
    const enum end *end = context;
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/file", directory);
    file = fopen(path, "w");
    if (!file || fputs("new", file) < 0 || fclose(file) != 0)
        return (fail)(failure, path, "cannot write it: %s", strerror(errno));
    *(int *)result = 42;
    if (access("out/file", F_OK) == 0)
        return (fail)(failure, "out", "it is there already");
    switch (*end) {
    case END_WELL:
        return true;
    case END_FAILED:
        return (fail)(failure, "file", "no room");
    case END_SILENT:
        return false;
    case END_EXIT:
        _exit(3);
    case END_SIGNAL:
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler reports */
        raise(SIGSEGV);
    }
    return true;
}

static int file_count(const char *path)
{
    DIR *directory = opendir(path);
    int count = -2; /* . and .. */

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Returns what `fill` left as its result. */
static int keep(enum end end, bool overwrite, bool *is_kept, struct failure *failure)
{
    int result = 0;
    struct tree_work work = {.path = "out",
                             .overwrite = overwrite,
                             .fill = fill,
                             .context = &end,
                             .result_size = sizeof(result)};

    *is_kept = tree_keep(&work, &result, failure);
    return result;
}

static void test_a_tree_that_is_whole_appears(void **state)
{
    struct failure failure;
    bool is_kept;

    (void)state;
    assert_int_equal(keep(END_WELL, false, &is_kept, &failure), 42);
    if (!is_kept)
        fail_msg("%s", failure.text);
    assert_int_equal(file_count("out"), 1);
    assert_int_equal(file_count("."), 1);
    assert_int_equal(unlink("out/file"), 0);
    assert_int_equal(rmdir("out"), 0);
}

static void check_failure(enum end end, const char *text)
{
    struct failure failure;
    bool is_kept;

    assert_int_equal(keep(end, false, &is_kept, &failure), 42);
    assert_false(is_kept);
    assert_string_equal(failure.text, text);
    assert_int_equal(file_count("."), 0);
}

static void test_a_tree_that_is_not_leaves_nothing(void **state)
{
    (void)state;
    check_failure(END_FAILED, "file: no room");
    check_failure(END_SILENT, "out: writing it failed; nothing was left");
    check_failure(END_EXIT, "out: writing it failed; nothing was left");
    check_failure(END_SIGNAL,
                  "out: writing it ended by signal 11 (Segmentation fault); nothing was left");
}

static void test_what_is_there_stays(void **state)
{
    struct failure failure;
    bool is_kept;

    (void)state;
    assert_int_equal(mkdir("out", 0700), 0);
    keep(END_WELL, false, &is_kept, &failure);
    assert_false(is_kept);
    assert_string_equal(failure.text, "out: expected a new directory, found a directory; "
                                      "--overwrite replaces it");
    assert_int_equal(file_count("out"), 0);
    assert_int_equal(rmdir("out"), 0);

    assert_int_equal(symlink(".", "out"), 0);
    keep(END_WELL, true, &is_kept, &failure);
    assert_false(is_kept);
    assert_string_equal(failure.text, "out: expected a new directory, found a symbolic link");
    assert_int_equal(unlink("out"), 0);
    assert_int_equal(file_count("."), 0);
}

static void test_a_directory_is_replaced_by_a_whole_one(void **state)
{
    struct failure failure;
    struct stat before, after;
    bool is_kept;

    (void)state;
    assert_int_equal(mkdir("out", 0700), 0);
    assert_int_equal(mkdir("out/old", 0700), 0);
    assert_int_equal(stat("out", &before), 0);
    keep(END_FAILED, true, &is_kept, &failure);
    assert_false(is_kept);
    assert_int_equal(stat("out/old", &after), 0);

    keep(END_WELL, true, &is_kept, &failure);
    if (!is_kept)
        fail_msg("%s", failure.text);
    assert_int_equal(stat("out", &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(file_count("out"), 1);
    assert_int_equal(file_count("."), 1);
    assert_int_equal(unlink("out/file"), 0);
    assert_int_equal(rmdir("out"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tree_that_is_whole_appears),
        cmocka_unit_test(test_a_tree_that_is_not_leaves_nothing),
        cmocka_unit_test(test_what_is_there_stays),
        cmocka_unit_test(test_a_directory_is_replaced_by_a_whole_one),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
