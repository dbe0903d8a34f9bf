#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/formats/format.h"
#include "grinder/profile/baseline.h"
#include "grinder/profile/symbolize.h"
#include "support/memory.h"

#include <cmocka.h>

#define START    BASELINE_FIRST_LINE "\n" BASELINE_HEADINGS "\n"
#define CONTEXTS BASELINE_CONTEXTS "\n"

/* What write makes of the text as a baseline, by instructions; or why it is refused. To be freed.
 */
static char *ground(const char *text, void (*write_format)(FILE *stream, const struct view *view))
{
    char path[] = "/tmp/baseline_test.XXXXXX";
    int file = mkstemp(path);
    struct profile profile = {.merged = true};
    struct view view = {.profile = &profile, .count = 1, .weight = WEIGHT_INSTRUCTIONS};
    struct images images;
    struct failure failure;
    char *written = NULL;
    size_t size;
    FILE *stream = open_memstream(&written, &size);

    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    images_begin(&images);
    view.images = &images;
    if (baseline_read(&profile, path, &images, &failure)) {
        symbolize(&images, &profile, NULL);
        write_format(stream, &view);
    } else {
        fputs(failure.text + strlen(path) + 1, stream);
    }
    fclose(stream);
    unlink(path);
    profile_free(&profile);
    images_free(&images);
    return written;
}

static void expect(const char *text, void (*write_format)(FILE *stream, const struct view *view),
                   const char *expected)
{
    char *written = ground(text, write_format);

    assert_string_equal(written, expected);
    free(written);
}

#define TWINS                                                                                      \
    START "demo\t0000000000000aaa\t1\t10\tmain\n"                                                  \
          "demo\t0000000000000bbb\t2\t600\n"                                                       \
          "demo\t0000000000000bbb\t3\t400\n"

static void contexts_name_functions_by_code(void **state)
{
    (void)state;
    expect(TWINS CONTEXTS "1\t1\t10\tmain\n"
                          "2\t1\t600\t0000000000000bbb\n"
                          "3\t3\t400\t0000000000000bbb#2\n"
                          "1\t0\t0\t-\n"
                          "2\t1\t300\t0000000000000bbb#2\n",
           folded_write,
           "main 10\n"
           "main;demo!code:0000000000000bbb 600\n"
           "main;demo!code:0000000000000bbb;demo!code:0000000000000bbb 400\n"
           "[cut];demo!code:0000000000000bbb 300\n");
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    expect(TWINS CONTEXTS "2\t1\t10\tmain\n", folded_write,
           "7: expected a depth, at most one more than in the line before, in column 1, found '2'");
    expect(TWINS CONTEXTS "1\t1\t10\tmain\n0\t1\t10\tmain\n", folded_write,
           "8: expected a depth, at most one more than in the line before, in column 1, found '0'");
    expect(TWINS CONTEXTS "1\t-\t10\tmain\n", folded_write,
           "7: expected a number of calls in column 2, found '-'");
    expect(TWINS CONTEXTS "1\t1\t10\t0000000000000bbb#3\n", folded_write,
           "7: expected the name or the code of a function above, or -, in column 4, found "
           "'0000000000000bbb#3'");
    expect(START CONTEXTS, folded_write,
           "3: expected a hash of 16 digits, or -, in column 2, found 'calls'");
}

#define NAMED                                                                                      \
    START "demo\t-\t1\t10\tmain\n"                                                                 \
          "demo\t-\t1\t1000000\tlex\n"                                                             \
          "demo\t-\t2\t500000\tparse\n"                                                            \
          "demo\t-\t100000\t1\tskip\n"                                                             \
          "demo\t-\t1\t1\ttiny\n"

/* Callees come in the order of the functions, whatever order they were recorded in. */
static void small_contexts_are_left_out(void **state)
{
    (void)state;
    expect(NAMED CONTEXTS "1\t1\t10\tmain\n"
                          "2\t1\t500000\tparse\n"
                          "3\t1\t1\ttiny\n"
                          "3\t0\t1\tskip\n"
                          "4\t1\t400000\tlex\n"
                          "2\t1\t600000\tlex\n"
                          "3\t100000\t0\tskip\n",
           baseline_write,
           NAMED CONTEXTS "1\t1\t10\tmain\n"
                          "2\t1\t600000\tlex\n"
                          "3\t100000\t0\tskip\n"
                          "2\t1\t500000\tparse\n"
                          "3\t0\t1\tskip\n"
                          "4\t1\t400000\tlex\n");
}

static void functions_that_call_nothing_have_no_contexts(void **state)
{
    (void)state;
    expect(NAMED CONTEXTS "1\t1\t10\tmain\n1\t1\t600000\tlex\n", baseline_write, NAMED);
}

static void version_1_has_functions_alone(void **state)
{
    static const char rows[] = BASELINE_HEADINGS "\ndemo\t-\t1\t10\tmain\n";
    char *old = memory_print("%s\n%s", BASELINE_FIRST_LINE_1, rows);
    char *with_contexts = memory_print("%s" CONTEXTS, old);

    (void)state;
    expect(old, baseline_write, START "demo\t-\t1\t10\tmain\n");
    expect(with_contexts, baseline_write,
           "4: expected a hash of 16 digits, or -, in column 2, found 'calls'");
    free(old);
    free(with_contexts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_name_functions_by_code),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(small_contexts_are_left_out),
        cmocka_unit_test(functions_that_call_nothing_have_no_contexts),
        cmocka_unit_test(version_1_has_functions_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
