/* A file that appears whole or not at all. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewriter/base/output_file.h"

#include <cmocka.h>

static int flushed;

/* In place of the C library's. */
int fsync(int descriptor)
{
    flushed += descriptor >= 0;
    return 0;
}

static char folder[] = "/tmp/output_file_test.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void check_content(const char *path, const char *expected)
{
    char text[64];
    FILE *file = fopen(path, "r");
    size_t size;

    assert_non_null(file);
    size = fread(text, 1, sizeof(text), file);
    fclose(file);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
}

/* How many files there are, temporary ones included. */
static int file_count(void)
{
    DIR *directory = opendir(".");
    int count = -2; /* . and .. */

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void begin(struct output_file *file, bool overwrite)
{
    struct failure failure;

    if (!output_file_begin(file, "out", overwrite, &failure) ||
        !output_file_write(file, 4, "new", 3, &failure) ||
        !output_file_write(file, 0, "the ", 4, &failure))
        fail_msg("%s", failure.text);
}

static void test_it_is_not_there_before_it_is_whole(void **state)
{
    static const struct stat like = {.st_mode = S_IFREG | S_ISUID | S_ISGID | 0751};
    struct output_file file;
    struct failure failure;
    struct stat status;

    (void)state;
    begin(&file, false);
    assert_int_equal(access("out", F_OK), -1);
    assert_true(output_file_settle(&file, &like, &failure));
    check_content(file.readable, "the new");
    assert_int_equal(access("out", F_OK), -1);
    assert_true(output_file_commit(&file, false, &failure));
    check_content("out", "the new");
    assert_int_equal(stat("out", &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0751);
    assert_int_equal(file_count(), 1);
    unlink("out");
}

static void test_what_is_passing_is_not_flushed(void **state)
{
    static const struct stat like = {.st_mode = S_IFREG | 0600};

    (void)state;
    for (int is_passing = 0; is_passing < 2; is_passing++) {
        struct output_file file;
        struct failure failure;

        begin(&file, false);
        assert_false(file.is_passing);
        file.is_passing = is_passing;
        flushed = 0;
        assert_true(output_file_settle(&file, &like, &failure));
        assert_int_equal(flushed, !is_passing);
        assert_true(output_file_commit(&file, false, &failure));
        check_content("out", "the new");
        unlink("out");
    }
}

static void test_what_is_abandoned_leaves_nothing(void **state)
{
    struct output_file file;

    (void)state;
    begin(&file, false);
    output_file_abandon(&file);
    assert_int_equal(file.descriptor, -1);
    assert_int_equal(file.place.directory, -1);
    assert_int_equal(file_count(), 0);
}

static void test_a_file_is_replaced_only_if_that_is_wanted(void **state)
{
    struct output_file file;
    struct failure failure;

    (void)state;
    put("out", "the old");
    assert_false(output_file_begin(&file, "out", false, &failure));
    assert_string_equal(failure.text, "out: expected a new file, found one that exists; "
                                      "--overwrite replaces it");
    begin(&file, true);
    check_content("out", "the old");
    assert_true(output_file_commit(&file, true, &failure));
    check_content("out", "the new");
    assert_int_equal(file_count(), 1);
    unlink("out");
}

/* What another process puts there while the file is written stays. */
static void test_what_came_meanwhile_stays(void **state)
{
    struct output_file file;
    struct failure failure;

    (void)state;
    begin(&file, false);
    put("out", "another's");
    assert_false(output_file_commit(&file, false, &failure));
    assert_non_null(strstr(failure.text, "found one that exists"));
    output_file_abandon(&file);
    check_content("out", "another's");
    assert_int_equal(unlink("out"), 0);

    begin(&file, true);
    assert_int_equal(symlink("target", "out"), 0);
    assert_false(output_file_commit(&file, true, &failure));
    assert_non_null(strstr(failure.text, "found a symbolic link; name what it leads to"));
    output_file_abandon(&file);
    assert_int_equal(unlink("out"), 0);
    assert_int_equal(file_count(), 0);
}

static void check_refusal(const char *path, const char *text)
{
    struct output_file file;
    struct failure failure;

    assert_false(output_file_begin(&file, path, true, &failure));
    assert_int_equal(file.place.directory, -1);
    if (!strstr(failure.text, text))
        fail_msg("'%s' does not say '%s'", failure.text, text);
}

static void test_only_files_are_replaced(void **state)
{
    (void)state;
    assert_int_equal(mkdir("directory", 0700), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    check_refusal("directory", "found a directory; name a file in it");
    check_refusal("pipe", "found a pipe; name a new file");
    check_refusal("new/", "found a directory's");
    check_refusal("/dev/null", "found a device");
    check_refusal("missing/out", "cannot write there");
    assert_int_equal(rmdir("directory"), 0);
    assert_int_equal(unlink("pipe"), 0);
}

static void test_a_write_that_fails_says_so(void **state)
{
    struct output_file file;
    struct failure failure;
    int whole;

    (void)state;
    begin(&file, false);
    whole = file.descriptor;
    file.descriptor = open("/dev/full", O_WRONLY);
    assert_false(output_file_write(&file, 0, "x", 1, &failure));
    assert_string_equal(failure.text,
                        "out: cannot write it: No space left on device; nothing was left there");
    close(file.descriptor);
    file.descriptor = whole;
    output_file_abandon(&file);
    assert_int_equal(file_count(), 0);
}

/* Once it has a temporary name: it takes the place of one that was there. */
static void end_amid_work(bool by_signal)
{
    struct output_file file;
    struct failure failure;

    begin(&file, true);
    if (mkdir("out", 0700) < 0 || output_file_commit(&file, true, &failure) || !*file.temporary ||
        access(file.temporary, F_OK) < 0)
        _exit(1);
    if (by_signal)
        raise(SIGTERM);
    exit(0);
}

static void test_an_early_end_leaves_nothing(void **state)
{
    (void)state;
    for (int by_signal = 0; by_signal <= 1; by_signal++) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
            end_amid_work(by_signal);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (by_signal)
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        else
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(rmdir("out"), 0);
        assert_int_equal(file_count(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_not_there_before_it_is_whole),
        cmocka_unit_test(test_what_is_passing_is_not_flushed),
        cmocka_unit_test(test_what_is_abandoned_leaves_nothing),
        cmocka_unit_test(test_a_file_is_replaced_only_if_that_is_wanted),
        cmocka_unit_test(test_what_came_meanwhile_stays),
        cmocka_unit_test(test_only_files_are_replaced),
        cmocka_unit_test(test_a_write_that_fails_says_so),
        cmocka_unit_test(test_an_early_end_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
