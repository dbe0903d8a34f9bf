/* Where --bisect's copies are, and how its command is found and run. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewriter/tool/bisect_place.h"

#include <cmocka.h>

static char folder[] = "/tmp/bisect_place_test.XXXXXX";

static void put(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs("#!/bin/sh\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/*
 *      one/        plain (nobody may run it), tool/
 *      two/        plain, tool
 *      here
 */
static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) < 0 || setenv("TMPDIR", folder, 1) < 0 ||
        mkdir("one", 0700) < 0 || mkdir("two", 0700) < 0 || mkdir("one/tool", 0700) < 0)
        return -1;
    put("one/plain", 0600);
    put("two/plain", 0700);
    put("two/tool", 0700);
    put("here", 0700);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink("one/plain");
    unlink("two/plain");
    unlink("two/tool");
    unlink("here");
    rmdir("one/tool");
    rmdir("one");
    rmdir("two");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void check_found(const char *folders, const char *command, const char *expected)
{
    char *old = strdup(getenv("PATH")), *found;

    assert_int_equal(setenv("PATH", folders, 1), 0);
    found = bisect_place_find(command);
    assert_int_equal(setenv("PATH", old, 1), 0);
    if (expected && (!found || strcmp(found, expected) != 0))
        fail_msg("%s in %s: found %s, should be %s", command, folders, found ? found : "none",
                 expected);
    if (!expected && found)
        fail_msg("%s in %s: found %s", command, folders, found);
    free(found);
    free(old);
}

static void test_a_command_is_found_as_execvp_does(void **state)
{
    (void)state;
    check_found("one:two", "./here", "./here");
    check_found("one:two", "/missing", "/missing"); /* as it is */
    check_found("one:two", "plain", "two/plain");
    check_found("one:two", "tool", "two/tool"); /* a directory is no program */
    check_found("one", "tool", NULL);
    check_found("one:two", "here", NULL);
    check_found("one::two", "here", "./here");
    check_found(":one", "here", "./here");
    check_found("one:", "here", "./here");
    check_found("", "here", "./here");
    check_found("one:two", "", NULL);
}

static void check_end(bool is_success, int status, const char *expected)
{
    struct bisect_end end = {is_success, status};
    char how[BISECT_HOW_SIZE];

    bisect_end_write(&end, how);
    assert_string_equal(how, expected);
}

static void test_how_a_command_ended(void **state)
{
    (void)state;
    check_end(true, 0, "succeeds");
    check_end(false, 3 << 8, "fails: exit status 3");
    check_end(false, 255 << 8, "fails: exit status 255");
    check_end(false, SIGSEGV, "fails: signal 11");
    check_end(false, SIGABRT | 0x80, "fails: signal 6"); /* with a core */
}

static void open_place(struct bisect_place *place, const char *image)
{
    struct failure failure;

    if (!bisect_place_open(place, image, &failure) || !bisect_place_copy(place, image, &failure))
        fail_msg("%s", failure.text);
}

static void test_the_folder_is_there_until_the_end(void **state)
{
    struct bisect_place place;
    struct stat status;

    (void)state;
    open_place(&place, "two/tool");
    assert_int_equal(strncmp(place.folder, folder, strlen(folder)), 0);
    assert_int_equal(strncmp(place.copy, place.folder, strlen(place.folder)), 0);
    assert_string_equal(place.copy + strlen(place.folder), "/tool");
    assert_int_equal(stat(place.folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(access(place.copy, X_OK), 0);
    bisect_place_close(&place);
    assert_int_equal(access(place.folder, F_OK), -1);
}

/* What a shell makes of `script`, with the path of an image as its first argument. */
static int status_of(const struct bisect_place *place, const char *script, const char *image)
{
    const char *command[] = {"/bin/sh", "-c", script, "sh", image, NULL};
    struct bisect_end end;
    struct failure failure;

    if (!bisect_place_run(place, command, &end, &failure))
        fail_msg("%s", failure.text);
    assert_int_equal(end.is_success, end.status == 0);
    return end.status;
}

static void test_the_command_finds_the_copy(void **state)
{
    static const char is_copy[] = "test \"$1\" = \"$UMBRA_BISECT\"";
    struct bisect_place place;
    char absolute[sizeof(folder) + 16];

    (void)state;
    snprintf(absolute, sizeof(absolute), "%s/two/tool", folder);
    open_place(&place, "two/tool");
    assert_int_equal(status_of(&place, is_copy, "two/tool"), 0);
    assert_int_equal(status_of(&place, is_copy, "one/../two/tool"), 0);
    assert_int_equal(status_of(&place, is_copy, absolute), 0);
    assert_int_not_equal(status_of(&place, is_copy, "two/plain"), 0);
    assert_int_not_equal(status_of(&place, is_copy, "tool"), 0); /* a word, of whatever */
    assert_int_equal(status_of(&place, "test \"$(command -v tool)\" = \"$UMBRA_BISECT\"", ""), 0);
    assert_int_equal(
        status_of(&place, "test \"${LD_LIBRARY_PATH%%:*}/tool\" = \"$UMBRA_BISECT\"", ""), 0);
    bisect_place_close(&place);
}

static void test_no_folder_is_added_but_the_copys(void **state)
{
    struct bisect_place place;

    (void)state;
    open_place(&place, "two/tool");
    setenv("LD_LIBRARY_PATH", "", 1); /* an empty entry would be the working directory */
    assert_int_equal(status_of(&place, "test \"$LD_LIBRARY_PATH/tool\" = \"$UMBRA_BISECT\"", ""),
                     0);
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(status_of(&place, "test \"$LD_LIBRARY_PATH/tool\" = \"$UMBRA_BISECT\"", ""),
                     0);
    bisect_place_close(&place);
}

static void test_what_the_command_ends_with(void **state)
{
    struct bisect_place place;
    const char *missing[] = {"/nowhere/command", NULL};
    struct bisect_end end;
    struct failure failure;

    (void)state;
    open_place(&place, "two/tool");
    assert_int_equal(status_of(&place, "exit 7", ""), 7 << 8);
    assert_int_equal(status_of(&place, "kill -USR1 $$", ""), SIGUSR1);
    assert_true(bisect_place_run(&place, missing, &end, &failure));
    assert_int_equal(end.status, 127 << 8);
    bisect_place_close(&place);
}

static void test_a_signal_ends_the_runs(void **state)
{
    struct bisect_place place;
    const char *command[] = {"true", NULL};
    struct bisect_end end;
    struct failure failure;

    (void)state;
    open_place(&place, "two/tool");
    raise(SIGTERM);
    assert_false(bisect_place_run(&place, command, &end, &failure));
    assert_string_equal(failure.text, "true: interrupted by signal 15");
    bisect_place_close(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_command_is_found_as_execvp_does),
        cmocka_unit_test(test_how_a_command_ended),
        cmocka_unit_test(test_the_folder_is_there_until_the_end),
        cmocka_unit_test(test_the_command_finds_the_copy),
        cmocka_unit_test(test_no_folder_is_added_but_the_copys),
        cmocka_unit_test(test_what_the_command_ends_with),
        cmocka_unit_test(test_a_signal_ends_the_runs), /* the last: what came is not forgotten */
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
