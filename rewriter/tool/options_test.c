/* The command line of `instrument`. It is read once a process, so each case has one of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewriter/tool/options.h"

#include <cmocka.h>

#define TEXT_SIZE 256

/* What the child found, where its parent sees it. */
struct seen {
    enum options_outcome outcome;
    enum verb verb;
    enum rewrite_how how;
    char file[TEXT_SIZE], output[TEXT_SIZE], command[TEXT_SIZE];
    size_t rules, times;
    bool first_includes, second_includes;
};

static struct seen *seen;
static char said[TEXT_SIZE];

static void copy(char to[TEXT_SIZE], const char *text)
{
    snprintf(to, TEXT_SIZE, "%s", text ? text : "(null)");
}

static void read_in_child(char **arguments, int errors)
{
    struct options options;
    int count = 0;

    while (arguments[count])
        count++;
    dup2(errors, STDERR_FILENO);
    seen->outcome = options_read(&options, count, arguments);
    seen->verb = options.verb;
    seen->how = options.how;
    copy(seen->file, options.file);
    copy(seen->output, options.output);
    copy(seen->command, options.command ? options.command[0] : NULL);
    seen->rules = options.filter.count;
    seen->times = options.times.count;
    if (seen->rules > 1) {
        seen->first_includes = options.filter.rules[0].is_include;
        seen->second_includes = options.filter.rules[1].is_include;
    }
    options_free(&options);
    _exit(0);
}

static enum options_outcome read_options(char **arguments)
{
    int errors[2], status;
    size_t length = 0;
    ssize_t size;
    pid_t pid;

    memset(seen, 0, sizeof(*seen));
    assert_int_equal(pipe(errors), 0);
    pid = fork();
    if (pid == 0)
        read_in_child(arguments, errors[1]);
    close(errors[1]);
    while ((size = read(errors[0], said + length, sizeof(said) - 1 - length)) > 0)
        length += (size_t)size;
    said[length] = 0;
    close(errors[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return seen->outcome;
}

#define READ(...) read_options((char *[]){"instrument", __VA_ARGS__, NULL})

static void check_fine(enum options_outcome outcome, enum verb verb)
{
    if (outcome != OPTIONS_FINE)
        fail_msg("%s", said);
    assert_int_equal(seen->verb, verb);
    assert_string_equal(said, "");
}

static void check_wrong(enum options_outcome outcome, const char *text)
{
    assert_int_equal(outcome, OPTIONS_WRONG);
    if (!strstr(said, text))
        fail_msg("'%s' does not say '%s'", said, text);
}

static void test_each_verb(void **state)
{
    (void)state;
    check_fine(READ("in", "-o", "out"), VERB_REWRITE);
    assert_string_equal(seen->file, "in");
    assert_string_equal(seen->output, "out");
    assert_string_equal(seen->command, "(null)");
    assert_int_equal(seen->how, REWRITE_AUTO);
    check_fine(READ("--list", "--summary", "--json", "in"), VERB_LIST);
    check_fine(READ("--verify", "in"), VERB_VERIFY);
    check_fine(READ("--undo", "in", "-o", "out"), VERB_UNDO);
    check_fine(READ("--version"), VERB_VERSION);
    check_fine(READ("-V", "whatever"), VERB_VERSION);
}

static void test_the_last_of_a_kind_counts(void **state)
{
    (void)state;
    check_fine(READ("-o", "one", "in", "--how=copy", "-otwo", "--how=prologue"), VERB_REWRITE);
    assert_string_equal(seen->output, "two");
    assert_int_equal(seen->how, REWRITE_PROLOGUE);
}

static void test_filters_keep_their_order(void **state)
{
    (void)state;
    check_fine(READ("in", "-o", "out", "--exclude", "a*", "--include=ab", "--time", "c"),
               VERB_REWRITE);
    assert_int_equal(seen->rules, 2);
    assert_int_equal(seen->times, 1);
    assert_false(seen->first_includes);
    assert_true(seen->second_includes);
}

static void test_a_command_behind_bisect_is_not_read(void **state)
{
    (void)state;
    check_fine(READ("--bisect", "in", "--", "make", "--list", "-o"), VERB_BISECT);
    assert_string_equal(seen->file, "in");
    assert_string_equal(seen->command, "make");
    check_fine(READ("--bisect", "--how=copy", "--", "./in"), VERB_BISECT);
    assert_string_equal(seen->file, "(null)");
    assert_string_equal(seen->command, "./in");
    check_wrong(READ("--bisect", "in"), "expected -- and a command");
    check_wrong(READ("--bisect", "in", "--"), "expected -- and a command");
    check_fine(READ("-o", "out", "--", "--bisect"), VERB_REWRITE); /* a file of that name */
    assert_string_equal(seen->file, "--bisect");
}

static void test_verbs_exclude_each_other(void **state)
{
    (void)state;
    check_wrong(READ("--list", "--verify", "in"), "found several");
    check_wrong(READ("--undo", "--bisect", "in", "--", "make"), "found several");
}

static void test_what_a_verb_does_not_take(void **state)
{
    (void)state;
    check_wrong(READ("--list", "in", "-o", "out"), "--list takes no -o");
    check_wrong(READ("--verify", "in", "-o", "out"), "--verify takes no -o");
    check_wrong(READ("--json", "in", "-o", "out"), "are for --list");
    check_wrong(READ("--summary", "--verify", "in"), "are for --list");
    check_wrong(READ("--bisect", "--bundle", "--", "in"), "--bisect takes no -o");
    check_wrong(READ("--undo", "in", "-o", "out", "--how=auto"), "are for instrumenting");
    check_wrong(READ("--verify", "in", "--poison"), "are for instrumenting");
    check_wrong(READ("--undo", "in", "-o", "out", "--confined"), "--confined is for");
    check_wrong(READ("--verify", "in", "--result-fd=2"), "--result-fd is for");
    check_wrong(READ("in", "-o", "out", "--poison", "--how=prologue"), "--poison is for");
    check_wrong(READ("in", "-o", "out", "--unwinder"), "--unwinder is for --away");
    check_wrong(READ("in", "-o", "out", "--away=0x1000", "--unwinder", "--include=a"),
                "takes no filters");
    check_wrong(READ("--verify", "in", "--time=x"), "--time is for");
    check_wrong(READ("--verify", "in", "--include=x"), "are for instrumenting");
}

static void test_a_result_needs_a_descriptor(void **state)
{
    (void)state;
    check_fine(READ("in", "-o", "out", "--result-fd=2"), VERB_REWRITE);
    check_fine(READ("in", "--list", "--result-fd=1"), VERB_LIST);
    check_wrong(READ("in", "-o", "out", "--result-fd=1000"), "open for writing");
    check_wrong(READ("in", "-o", "out", "--result-fd=-2"), "open for writing");
    check_wrong(READ("in", "-o", "out", "--result-fd=two"), "open for writing");
}

static void test_files_are_named(void **state)
{
    (void)state;
    check_wrong(READ("--list"), "found no FILE");
    check_wrong(READ("--list", "one", "two"), "two: expected one FILE, found another");
    check_wrong(READ("in"), "in: expected -o OUT");
    check_wrong(READ("in", "-o", ""), "in: expected -o OUT");
    check_wrong(READ("--undo", "in"), "in: expected -o OUT");
}

static void test_a_misspelt_option_is_told(void **state)
{
    (void)state;
    check_wrong(READ("--lsit", "in"), "--lsit: unknown option (did you mean --list?)");
    check_wrong(READ("--exclud=x", "in"), "(did you mean --exclude?)");
    check_wrong(READ("--output=out", "in"), "(did you mean -o OUT?)");
    check_wrong(READ("--zzzzzzzzzz", "in"), "--zzzzzzzzzz: unknown option; see --help");
    check_wrong(READ("-z", "in"), "-z: unknown option; see --help");
    check_wrong(READ("in", "-o"), "-o: expected OUT behind it, found nothing; see --help");
    check_wrong(READ("in", "-o", "out", "--how=body"), "body: expected --how=copy");
}

static void test_patterns_are_not_empty(void **state)
{
    (void)state;
    check_wrong(READ("in", "--include="), "--include: expected a pattern, found none");
    check_wrong(READ("in", "--exclude="), "--exclude: expected a pattern, found none");
    check_wrong(READ("in", "--time="), "--time: expected a pattern, found none");
    check_wrong(READ("in", "--exclude=0x2000-0x1000"), "--exclude: expected a range that ends");
    assert_int_equal(READ("in", "--filter=/nowhere/filter"), OPTIONS_UNREADABLE);
    assert_non_null(strstr(said, "/nowhere/filter"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_verb),
        cmocka_unit_test(test_the_last_of_a_kind_counts),
        cmocka_unit_test(test_filters_keep_their_order),
        cmocka_unit_test(test_a_command_behind_bisect_is_not_read),
        cmocka_unit_test(test_verbs_exclude_each_other),
        cmocka_unit_test(test_what_a_verb_does_not_take),
        cmocka_unit_test(test_a_result_needs_a_descriptor),
        cmocka_unit_test(test_files_are_named),
        cmocka_unit_test(test_a_misspelt_option_is_told),
        cmocka_unit_test(test_patterns_are_not_empty),
    };

    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return seen == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
