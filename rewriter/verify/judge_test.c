/* What the judge says of an image, and of what is none. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rewriter/base/input_file.h"
#include "rewriter/verify/judge.h"

#include <cmocka.h>

static const char *sample; /* a program; the command line names it */

/* What the sample is. */
static int read_sample(void **state)
{
    static struct judge_expectation expected;
    struct input_file file;
    struct failure failure;
    Elf64_Ehdr header;

    if (!input_file_open(&file, sample, &failure))
        return -1;
    memcpy(&header, file.bytes, sizeof(header));
    expected = (struct judge_expectation){
        .size = file.size, .segments = header.e_phnum, .sections = header.e_shnum};
    input_file_close(&file);
    *state = &expected;
    return 0;
}

static void check_refusal(const char *path, const struct judge_expectation *expected,
                          const char *text)
{
    struct failure failure = {{0}};

    assert_false(judge_image(path, "name", expected, &failure));
    if (strncmp(failure.text, "name: verification failed: LIEF ", 32) != 0 ||
        !strstr(failure.text, text) ||
        !strstr(failure.text, "; --no-verify writes it all the same"))
        fail_msg("'%s' does not say '%s'", failure.text, text);
}

static void test_an_image_as_it_was_meant(void **state)
{
    struct judge_expectation expected = *(struct judge_expectation *)*state;
    struct failure failure;

    if (!judge_image(sample, "name", &expected, &failure))
        fail_msg("%s", failure.text);
    expected.needed = "libc.so.6";
    if (!judge_image(sample, "name", &expected, &failure))
        fail_msg("%s", failure.text);
}

static void test_an_image_that_was_meant_otherwise(void **state)
{
    struct judge_expectation expected = *(struct judge_expectation *)*state;

    expected.segments++;
    check_refusal(sample, &expected, "counts other program headers than were written");
    expected.segments--;
    expected.sections--;
    check_refusal(sample, &expected, "counts other sections than were written");
    expected.sections += 2;
    check_refusal(sample, &expected, "counts other sections than were written");
    expected.sections--;
    expected.needed = "libhooks.so";
    check_refusal(sample, &expected, "does not find the agent first among its libraries");
}

/* One version of LIEF says of some of these that they are no images, another one ends by a signal.
 */
static void test_what_is_no_image(void **state)
{
    struct judge_expectation expected = *(struct judge_expectation *)*state;

    check_refusal("/proc/self/status", &expected, "");
    check_refusal("/nowhere/image", &expected, "");
    expected.is_pe = true;
    expected.needed = "hooks.dll";
    check_refusal(sample, &expected, "");
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_image_as_it_was_meant),
        cmocka_unit_test(test_an_image_that_was_meant_otherwise),
        cmocka_unit_test(test_what_is_no_image),
    };

    if (count != 2) {
        fprintf(stderr, "judge_test PROGRAM\n");
        return 2;
    }
    sample = arguments[1];
    return cmocka_run_group_tests(tests, read_sample, NULL);
}
