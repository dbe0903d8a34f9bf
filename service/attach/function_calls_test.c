#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "service/attach/function_calls.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

static int file_of(const struct trace_sample *sample)
{
    char path[] = "/tmp/function_calls_test.XXXXXX";
    int file = mkstemp(path);

    assert_true(file >= 0);
    unlink(path);
    assert_int_equal(write(file, sample->bytes, sample->size), (ssize_t)sample->size);
    return file;
}

/* Of all threads, and of all contexts, in more blocks than are read at once. */
static void calls_add_up(void **state)
{
    struct trace_sample sample;
    struct function_calls calls;
    const struct called_image *image;
    int file;

    (void)state;
    trace_sample_begin(&sample, 1, "x");
    trace_sample_add_module(&sample, "/first", 0x1000, 0x1000, 1, 3, 7);
    trace_sample_add_module(&sample, "/second", 0x8000, 0x1000, 4, 2, 8);
    for (uint32_t thread = 1; thread <= 2; thread++) {
        uint32_t ordinal = trace_sample_add_thread(&sample, "t");
        uint32_t root = trace_sample_thread(&sample, ordinal)->root;

        for (int i = 0; i < 5000; i++)
            trace_sample_add_node(&sample, ordinal, root, 0x1000, 5, 2, 0);
        trace_sample_add_node(&sample, ordinal, root, 0x1000, 1, 7, 0);
    }
    file = file_of(&sample);
    assert_true(function_calls_read(&calls, file));
    assert_int_equal(calls.count, 6);
    assert_int_equal(calls.calls[1], 14);
    assert_int_equal(calls.calls[2], 0);
    assert_int_equal(calls.calls[5], 20000);
    image = function_calls_image(&calls, 5);
    assert_non_null(image);
    assert_int_equal(image->base, 0x8000);
    assert_int_equal(image->first_function, 4);
    assert_null(function_calls_image(&calls, 6));
    assert_null(function_calls_image(&calls, 0));
    function_calls_free(&calls);
    close(file);
    trace_sample_free(&sample);
}

static void a_function_of_no_module_is_passed_over(void **state)
{
    struct trace_sample sample;
    struct function_calls calls;
    uint32_t ordinal;
    int file;

    (void)state;
    trace_sample_begin(&sample, 1, "x");
    ordinal = trace_sample_add_thread(&sample, "t");
    trace_sample_add_node(&sample, ordinal, trace_sample_thread(&sample, ordinal)->root, 1, 9, 1,
                          0);
    file = file_of(&sample);
    assert_true(function_calls_read(&calls, file));
    assert_int_equal(calls.count, 0);
    function_calls_free(&calls);
    assert_int_equal(ftruncate(file, 5000), 0);
    assert_false(function_calls_read(&calls, file));
    close(file);
    trace_sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_add_up),
        cmocka_unit_test(a_function_of_no_module_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
