/* What instrument says: on which stream, and what of names gets to a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "rewriter/base/said.h"
#include "rewriter/base/say.h"

#include <cmocka.h>

static struct said out, err;

static void listen(void)
{
    assert_true(said_begin(&out, stdout));
    assert_true(said_begin(&err, stderr));
}

static void check(const char *on_stdout, const char *on_stderr)
{
    const char *error = said_end(&err), *output = said_end(&out);

    assert_string_equal(output, on_stdout);
    assert_string_equal(error, on_stderr);
}

static void test_results_are_told_from_notes(void **state)
{
    (void)state;
    listen();
    say_result("%d functions", 3);
    check("3 functions\n", "");
    listen();
    say_note("%s: dropped", "file");
    say_problem("%s: cannot read it", "file");
    check("", "instrument: file: dropped\ninstrument: file: cannot read it\n");
}

static void test_no_name_speaks_to_a_terminal(void **state)
{
    (void)state;
    listen();
    say_result("%s", "a\033[2Jb\nc\177\xc2\x9b\xff");
    say_problem("%s", "n\xc3\xa4me\t\xc3");
    check("a?[2Jb?c?\?\?\?\n", "instrument: n\xc3\xa4me?\?\n");
}

static void test_a_stdout_that_is_full_is_told_at_the_end(void **state)
{
    int before = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    struct failure failure;
    bool is_fine;

    (void)state;
    assert_true(say_end(&failure));
    fflush(stdout);
    dup2(full, STDOUT_FILENO);
    say_result("lost");
    is_fine = say_end(&failure);
    dup2(before, STDOUT_FILENO);
    clearerr(stdout);
    close(before);
    close(full);
    assert_false(is_fine);
    assert_string_equal(failure.text,
                        "standard output: cannot write to it: No space left on device");
}

static void test_problems_are_said_whatever_is_wanted(void **state)
{
    (void)state;
    say_problems_only();
    listen();
    say_result("result");
    say_note("note");
    say_problem("problem");
    check("", "instrument: problem\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_told_from_notes),
        cmocka_unit_test(test_no_name_speaks_to_a_terminal),
        cmocka_unit_test(test_a_stdout_that_is_full_is_told_at_the_end),
        cmocka_unit_test(test_problems_are_said_whatever_is_wanted), /* the last: it stays so */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
