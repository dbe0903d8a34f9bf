#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/test_ground/ended.h"
#include "front/test_ground/own_folder.h"
#include "front/tool/find_program.h"

#include <cmocka.h>

static void add_program(const char *path)
{
    own_file_write(path, "#!/bin/sh\n");
    assert_int_equal(chmod(path, 0755), 0);
}

static int enter(void **state)
{
    if (own_folder_enter(state) < 0 || mkdir("one", 0700) < 0 || mkdir("two", 0700) < 0)
        return -1;
    add_program("two/program");
    own_file_write("one/program", "");
    own_file_write("plain", "");
    return setenv("PATH", "one:two", 1);
}

static void expect_found(const char *name, const char *path)
{
    char *found = program_require(name);

    assert_string_equal(found, path);
    free(found);
}

static void require(void *name)
{
    free(program_require(name));
}

static void expect_refused(char *name, int status, const char *said)
{
    struct ended ended = ended_by(require, name);

    assert_int_equal(ended.status, status);
    assert_string_equal(ended.said, said);
}

static void it_is_what_execvp_would_find(void **state)
{
    (void)state;
    expect_found("program", "two/program");
    expect_found("two/program", "two/program");
    add_program("one/program");
    expect_found("program", "one/program");
    mkdir("one/folder", 0700);
    add_program("two/folder");
    expect_found("folder", "two/folder");
}

static void an_empty_folder_is_the_working_directory(void **state)
{
    (void)state;
    add_program("here");
    setenv("PATH", "one::two", 1);
    expect_found("here", "./here");
    setenv("PATH", "one:", 1);
    expect_found("here", "./here");
    setenv("PATH", "", 1);
    expect_found("here", "./here");
    unsetenv("PATH");
    expect_found("sh", "/bin/sh");
}

static void what_cannot_be_executed_is_told(void **state)
{
    (void)state;
    expect_refused("./plain", 126, "umbra: ./plain: cannot be executed: Permission denied\n");
    expect_refused("./one", 126, "umbra: ./one: cannot be executed: it is a folder\n");
    expect_refused("./none", 127, "umbra: ./none: there is no such program\n");
    expect_refused("none", 127, "umbra: none: there is no such program\n");
}

static void what_was_meant_is_told(void **state)
{
    (void)state;
    expect_refused("plain", 127,
                   "umbra: plain: there is no such program; the file here is ./plain\n");
    expect_refused("one", 127, "umbra: one: there is no such program; it is a folder\n");
    expect_refused("program -x", 127,
                   "umbra: program -x: there is no such program; without the quotation marks: "
                   "umbra record -- program -x\n");
    expect_refused("none -x", 127, "umbra: none -x: there is no such program\n");
    expect_refused("A=b", 127,
                   "umbra: A=b: there is no such program; to set a variable: umbra record -- env "
                   "A=b PROGRAM\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, own_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_what_execvp_would_find),
        TEST(an_empty_folder_is_the_working_directory),
        TEST(what_cannot_be_executed_is_told),
        TEST(what_was_meant_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
