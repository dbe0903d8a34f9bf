#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "front/test_ground/ended.h"
#include "front/test_ground/own_folder.h"
#include "front/tool/record_options.h"
#include "support/memory.h"

#include <cmocka.h>

static struct record_options options;

static void parse(void *words)
{
    char **arguments = words;
    int count = 0;

    while (arguments[count])
        count++;
    optind = 0;
    record_options_read(&options, count, arguments);
}

static int forget(void **state)
{
    (void)state;
    words_free(&options.instrument);
    words_free(&options.service);
    words_free(&options.leave);
    words_free(&options.samples);
    return 0;
}

#define WORDS(...)        ((char *[]){"record", __VA_ARGS__, NULL})
#define PARSE(...)        (forget(NULL), parse(WORDS(__VA_ARGS__)))
#define EXPECT(list, ...) expect(&options.list, (char *[]){__VA_ARGS__ NULL})

static void expect(const struct words *words, char *const *expected)
{
    size_t count = 0;

    for (; expected[count]; count++) {
        assert_true(count < words->count);
        assert_string_equal(words->list[count], expected[count]);
    }
    assert_int_equal(words->count, count);
}

#define REFUSED(why, ...) expect_refused(why, WORDS(__VA_ARGS__))

static void expect_refused(const char *why, char **words)
{
    struct ended ended;

    forget(NULL);
    ended = ended_by(parse, words);
    if (ended.status != STATUS_USAGE || !strstr(ended.said, why))
        fail_msg("status %d, expected %s, found %s", ended.status, why, ended.said);
}

static void a_program_alone_is_recorded(void **state)
{
    char **words = WORDS("program", "-o", "x", "--quiet");

    (void)state;
    parse(words);
    assert_string_equal(options.output, "umbra.data");
    assert_true(options.children && options.in_place);
    assert_false(options.is_quiet || options.is_verbose || options.is_of_stacks ||
                 options.is_twice);
    assert_int_equal(options.pid, 0);
    assert_ptr_equal(options.program, words + 1);
    EXPECT(instrument, );
    EXPECT(service, );
    PARSE("-q", "-o", "x", "--children=no", "--in-place=no", "--", "program");
    assert_string_equal(options.output, "x");
    assert_true(options.is_quiet);
    assert_false(options.children || options.in_place);
    assert_string_equal(options.program[0], "program");
}

static void options_are_handed_on(void **state)
{
    (void)state;
    PARSE("--include=a", "--exclude", "b*", "--instrument-imports", "--mode=profile", "--paused",
          "--leave=x", "--leave=!y", "program");
    EXPECT(instrument, "--include=a", "--exclude=b*", "--instrument-imports", );
    EXPECT(service, "--mode=profile", "--paused", );
    EXPECT(leave, "x", "!y", );
}

static void the_last_of_a_services_option_counts(void **state)
{
    (void)state;
    PARSE("--samples=1", "--slices=2", "-F", "99", "program");
    EXPECT(service, "--slices=2", "--samples=99", );
    PARSE("--how=prologue", "--how=copy", "program");
    EXPECT(instrument, "--how=copy", );
    PARSE("--how=copy", "--how=samples", "program");
    assert_true(options.is_of_stacks);
    EXPECT(instrument, );
    PARSE("--how=samples", "--how=auto", "program");
    assert_false(options.is_of_stacks);
    EXPECT(instrument, "--how=auto", );
}

static void a_filter_is_found_from_anywhere(void **state)
{
    char *expected = memory_print("--filter=%s/filter", own_folder_path());

    (void)state;
    own_file_write("filter", "");
    PARSE("--filter=filter", "program");
    assert_string_equal(options.instrument.list[0], expected);
    REFUSED("--filter=none: cannot be read", "--filter=none", "program");
    free(expected);
}

static void a_process_takes_the_place_of_a_program(void **state)
{
    (void)state;
    PARSE("-p", "123", "--samples=99");
    assert_int_equal(options.pid, 123);
    assert_true(options.is_of_stacks);
    REFUSED("expected the number of a process", "-p", "0");
    REFUSED("expected the number of a process", "-p", "-1");
    REFUSED("expected the number of a process", "-p", "12x");
    REFUSED("expected the number of a process", "-p", "");
    REFUSED("expected the number of a process", "-p", "4294967297");
    REFUSED("expected no program beside it, found true", "-p", "123", "true");
}

static void a_second_run_has_the_samples(void **state)
{
    (void)state;
    PARSE("--twice", "--samples=99", "--node-limit=5", "program");
    assert_true(options.is_twice);
    EXPECT(service, "--node-limit=5", "--timing=none", );
    EXPECT(samples, "--samples=99", );
    REFUSED("--how=samples: does nothing with --twice", "--twice", "--how=samples", "program");
    REFUSED("--time: does nothing with --twice", "--twice", "--time=f", "program");
    REFUSED("--timing: does nothing with --twice", "--timing=exact", "--twice", "program");
    REFUSED("--slices: does nothing with --twice", "--slices=1", "--twice", "program");
}

static void what_samples_alone_do_not_need_is_refused(void **state)
{
    (void)state;
    PARSE("--how=samples", "-F", "99", "program");
    EXPECT(service, "--samples=99", );
    REFUSED("--exclude=a: does nothing with", "--how=samples", "--exclude=a", "program");
    REFUSED("--leave: does nothing with", "--leave=a", "--how=samples", "program");
    REFUSED("--children=no: does nothing", "--children=no", "--how=samples", "program");
    REFUSED("--slices=1: does nothing", "--samples=9", "--slices=1", "-p", "1");
}

static void times_need_a_clock_that_is_free(void **state)
{
    (void)state;
    PARSE("--time=f", "--timing=none", "program");
    REFUSED("leave --timing=exact out", "--time=f", "--timing=exact", "program");
    REFUSED("leave --mode=calltrace out", "--mode=calltrace", "--time=f", "program");
    REFUSED("leave --samples=no out", "--samples=no", "--time=f", "program");
}

static void what_is_counted_is_counted_in_copies(void **state)
{
    (void)state;
    PARSE("--count=instructions", "--timing=none", "program");
    EXPECT(instrument, "--count=instructions", );
    PARSE("--count=instructions", "--count=blocks", "--once", "program");
    EXPECT(instrument, "--count=instructions", "--count=blocks", "--once", );
    PARSE("--count=instructions", "--timing=exact", "--timing=samples", "program");
    PARSE("--count=instructions", "--how=prologue", "--how=auto", "program");
    REFUSED("--count=calls: expected blocks or instructions", "--count=calls", "program");
    PARSE("--count=instructions", "--no-calls", "program");
    PARSE("--count=blocks", "--no-calls", "program");
    REFUSED("--no-calls is for --count", "--no-calls", "program");
    REFUSED("leave --how=prologue out", "--how=prologue", "--count=instructions", "program");
    REFUSED("leave --timing=exact out", "--timing=exact", "--count=instructions", "program");
    REFUSED("leave --mode=calltrace out", "--count=instructions", "--mode=calltrace", "program");
    REFUSED("--count=instructions: does nothing with --how=samples", "--count=instructions",
            "--how=samples", "program");
    REFUSED("--once is for --count=blocks", "--count=instructions", "--once", "program");
    REFUSED("leave --how=prologue out", "--count=blocks", "--once", "--how=prologue", "program");
}

static void wrong_usage_is_told(void **state)
{
    (void)state;
    REFUSED("expected a program, found none", "-q");
    REFUSED("expected a program, found none", "--");
    REFUSED("--children=maybe: expected yes or no", "--children=maybe", "program");
    REFUSED("--how=best: expected prologue", "--how=best", "program");
    REFUSED("--exclude=: expected a value", "--exclude=", "program");
}

static void letters_of_perf_are_understood_or_explained(void **state)
{
    (void)state;
    PARSE("-g", "-F", "99", "program");
    EXPECT(service, "--samples=99", );
    REFUSED("record: -a: Umbra records a program", "-a", "program");
    REFUSED("record: -e: Umbra records calls", "-e", "cycles", "program");
    REFUSED("record: --call-graph: who calls whom", "--call-graph=dwarf", "program");
    REFUSED("record: -t: Umbra samples whole processes", "-t", "5");
    REFUSED("record: -t: Umbra samples whole processes", "-gt", "5");
    REFUSED("record: -F: expected how many samples a second behind it", "-F");
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_alone_is_recorded),
        TEST(options_are_handed_on),
        TEST(the_last_of_a_services_option_counts),
        TEST(a_filter_is_found_from_anywhere),
        TEST(a_process_takes_the_place_of_a_program),
        TEST(a_second_run_has_the_samples),
        TEST(what_samples_alone_do_not_need_is_refused),
        TEST(times_need_a_clock_that_is_free),
        TEST(what_is_counted_is_counted_in_copies),
        TEST(wrong_usage_is_told),
        TEST(letters_of_perf_are_understood_or_explained),
    };

    return cmocka_run_group_tests(tests, own_folder_enter, own_folder_leave);
}
