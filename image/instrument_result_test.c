/* A result is read as it was written; what is damaged is refused, and says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "image/instrument_result.h"

#include <cmocka.h>

#define REFUSED "umbra-result=1\noutcome=refused\nreason=go\ntext=expected none of Go\n"
#define DONE    "umbra-result=1\noutcome=instrumented\nreason=\ntext=\n"
#define COUNTS  "found=9\nhooked=7\ncopied=6\nunsafe=2\n"

static struct instrument_result result;

/* Null: it is read. Else what it fails with, or a part of that. */
static void expect_sized(const char *lines, size_t size, const char *problem)
{
    char *copy = malloc(size + 1); /* so that a sanitizer sees the end */
    struct failure failure = {"nothing"};
    bool is_read;

    memcpy(copy, lines, size);
    copy[size] = 'x';
    is_read = instrument_result_read(&result, copy, size, &failure);
    free(copy);
    assert_int_equal(is_read, !problem);
    if (problem && !strstr(failure.text, problem))
        fail_msg("'%s' is not in: %s", problem, failure.text);
}

static void expect(const char *lines, const char *problem)
{
    expect_sized(lines, strlen(lines), problem);
}

static void what_was_written_is_read(void **state)
{
    struct instrument_result written = {.found = 9, .hooked = 7, .copied = 6, .unsafe = 2};
    char lines[INSTRUMENT_RESULT_SIZE];
    size_t size;

    (void)state;
    instrument_result_add_unmatched(&written, "exclude", "a\nb");
    instrument_result_add_unmatched(&written, "time", "c");
    size = instrument_result_print(&written, lines);
    assert_int_equal(size, strlen(lines));
    assert_string_equal(lines, DONE COUNTS "unmatched=--exclude=a?b\nunmatched=--time=c\nend\n");
    expect(lines, NULL);
    assert_int_equal(result.outcome, INSTRUMENT_DONE);
    assert_int_equal(result.found, 9);
    assert_int_equal(result.hooked, 7);
    assert_int_equal(result.copied, 6);
    assert_int_equal(result.unsafe, 2);
    assert_string_equal(result.unmatched, "--exclude=a?b\n--time=c\n");
}

static void every_reason_is_read(void **state)
{
    (void)state;
    for (enum instrument_reason reason = REASON_FILTER; reason <= REASON_OTHER; reason++) {
        struct instrument_result written = {
            .outcome = instrument_reason_outcome(reason), .reason = reason, .text = "a\x1b\xff"};
        char lines[INSTRUMENT_RESULT_SIZE];

        instrument_result_print(&written, lines);
        expect(lines, NULL);
        assert_int_equal(result.reason, reason);
        assert_int_equal(result.outcome, written.outcome);
        assert_string_equal(result.text, "a??");
    }
}

/* The text of the greatest length, and more patterns than there is room for. */
static void what_is_long_has_room(void **state)
{
    struct instrument_result written = {.outcome = INSTRUMENT_FAILED, .reason = REASON_OTHER};
    char lines[INSTRUMENT_RESULT_SIZE];

    (void)state;
    memset(written.text, 't', sizeof(written.text) - 1);
    for (size_t i = 0; i < sizeof(written.unmatched); i++)
        instrument_result_add_unmatched(&written, "e", "");
    expect_sized(lines, instrument_result_print(&written, lines), NULL);
    assert_string_equal(result.text, written.text);
    assert_memory_equal(result.unmatched, "--e=\n--e=\n", 10);
}

static void what_was_cut_is_refused(void **state)
{
    static const char whole[] = DONE COUNTS "unmatched=--exclude=a\nend\n";

    (void)state;
    expect(whole, NULL);
    for (size_t size = 0; size < strlen(whole); size++)
        expect_sized(whole, size, size ? "its result" : "no result");
}

static void what_is_too_long_is_refused(void **state)
{
    static char lines[INSTRUMENT_RESULT_SIZE + 10];

    (void)state;
    memset(lines, 'x', sizeof(lines) - 1);
    expect(lines, "more than 32768 bytes");
    memcpy(lines, REFUSED, strlen(REFUSED));
    expect_sized(lines, INSTRUMENT_RESULT_SIZE, "more than 32768 bytes");
    expect_sized(lines, INSTRUMENT_RESULT_SIZE - 1, "cut");
    memset(lines, 't', sizeof(lines));
    memcpy(lines, REFUSED, strlen(REFUSED) - 1);
    memcpy(lines + 2000, "\nend\n", 6);
    expect(lines, "a text that is too long");
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    expect("umbra-result=2\nwhatever", "another version");
    expect("instrument: out of memory\n", "no line umbra-result=");
    expect("umbra-result=1\nend\n", "no line outcome=");
    expect("umbra-result=1\noutcome=fine\n", "an unknown outcome");
    expect("umbra-result=1\noutcome=refused\nend\n", "no line reason=");
    expect("umbra-result=1\noutcome=refused\nreason=why\n", "an unknown reason");
    expect("umbra-result=1\noutcome=refused\nreason=\n", "contradicts itself");
    expect("umbra-result=1\noutcome=failed\nreason=go\n", "contradicts itself");
    expect("umbra-result=1\noutcome=instrumented\nreason=go\n", "contradicts itself");
    expect("umbra-result=1\noutcome=refused\nreason=go\nend\n", "no line text=");
    expect(REFUSED "end\nend\n", "behind its end");
    expect(REFUSED COUNTS "end\n", "behind its end");
    expect(REFUSED "text=\x1b[2J\nend\n", "plain");
    expect(DONE "end\n", "no line found=");
    expect(DONE "found=\nhooked=7\ncopied=6\nunsafe=2\nend\n", "no number behind found=");
    expect(DONE "found=-1\nhooked=7\ncopied=6\nunsafe=2\nend\n", "no number behind found=");
    expect(DONE "found=9\nhooked=7x\ncopied=6\nunsafe=2\nend\n", "no number behind hooked=");
    expect(DONE "found=99999999999999999999\n", "no number behind found=");
    expect(DONE "found=9\nhooked=10\ncopied=6\nunsafe=2\nend\n", "contradicts itself");
    expect(DONE "found=9\nhooked=0\ncopied=0\nunsafe=2\nend\n", "contradicts itself");
    expect(DONE "found=9\nhooked=7\ncopied=8\nunsafe=2\nend\n", "contradicts itself");
    expect(DONE "found=9\nhooked=7\ncopied=6\nunsafe=3\nend\n", "contradicts itself");
    expect_sized(REFUSED "end\n\0end\n", strlen(REFUSED) + 9, "plain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),    cmocka_unit_test(every_reason_is_read),
        cmocka_unit_test(what_is_long_has_room),       cmocka_unit_test(what_was_cut_is_refused),
        cmocka_unit_test(what_is_too_long_is_refused), cmocka_unit_test(what_is_wrong_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
