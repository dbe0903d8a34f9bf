/* Blocks of an image, from traces of several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/coverage/coverage_format.h"
#include "image/sample_image.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

#define FIRST_FUNCTION 11

static char image_path[] = "/tmp/umbra-coverage-test.XXXXXX";
static uint64_t original_hash;
static uint32_t block_hash = IMAGE_NO_BLOCK_HASH;
static struct coverage coverage;

static int make_image(void **state)
{
    static uint8_t original[SAMPLE_ADDED];
    struct sample_image image;
    int file = mkstemp(image_path);

    (void)state;
    sample_image_make(&image, original);
    original_hash = image.added.head.original_hash;
    for (uint32_t i = 0; i < image.added.head.block_count; i++)
        block_hash =
            image_block_hash(block_hash, image.added.blocks[i].rva, image.added.blocks[i].size);
    if (file < 0 || write(file, &image, sizeof(image)) != (ssize_t)sizeof(image))
        return -1;
    return close(file);
}

static int remove_image(void **state)
{
    (void)state;
    return unlink(image_path);
}

static int begin(void **state)
{
    (void)state;
    coverage_begin(&coverage);
    return 0;
}

static int end(void **state)
{
    (void)state;
    coverage_free(&coverage);
    return 0;
}

/* A process that has run the blocks of that part of the image's whose bits are set. */
static void add_process(uint32_t function, uint32_t page, unsigned blocks)
{
    struct trace_sample sample;
    struct failure failure;
    uint8_t *bytes;
    char path[64];
    int file;

    trace_sample_begin(&sample, 7, "./program");
    trace_sample_add_module(&sample, image_path, 0x400000, 0x10000, FIRST_FUNCTION, 2,
                            original_hash);
    bytes = trace_sample_add_cover(&sample, function, page, block_hash);
    for (unsigned i = 0; blocks >> i; i++)
        bytes[i] = blocks >> i & 1;
    file = trace_sample_open(&sample, path);
    trace_sample_free(&sample);
    if (!coverage_add(&coverage, path, &failure))
        fail_msg("%s", failure.text);
    close(file);
}

static void expect(uint64_t ran, uint64_t blocks)
{
    static const char *const none[] = {NULL};

    coverage_resolve(&coverage, none);
    assert_int_equal(coverage.blocks, blocks);
    assert_int_equal(coverage.blocks_ran, ran);
}

static void padding_is_no_block(void **state)
{
    (void)state;
    add_process(FIRST_FUNCTION, 0, 7);
    expect(2, 2);
    assert_int_equal(coverage.function_count, 1);
    assert_int_equal(coverage.functions[0].blocks, 2);
    assert_int_equal(coverage.functions[0].ran, 2);
}

static void processes_add_up(void **state)
{
    (void)state;
    add_process(FIRST_FUNCTION, 0, 1);
    add_process(FIRST_FUNCTION, 0, 1);
    expect(1, 2);
    end(state);
    begin(state);
    add_process(FIRST_FUNCTION, 0, 1);
    add_process(FIRST_FUNCTION, 0, 4);
    expect(2, 2);
    assert_int_equal(coverage.processes, 2);
}

/* What a damaged trace may say. */
static void bytes_of_nobody_are_left_out(void **state)
{
    (void)state;
    add_process(FIRST_FUNCTION, 0, 0);
    add_process(FIRST_FUNCTION + 1, 0, 7);
    add_process(FIRST_FUNCTION, 1, 7);
    add_process(FIRST_FUNCTION, UINT32_MAX, 7);
    expect(0, 2);
}

/* The file was instrumented again, with another filter: the numbers are those of other blocks. */
static void blocks_of_another_making_are_left_out(void **state)
{
    (void)state;
    add_process(FIRST_FUNCTION, 0, 1);
    block_hash ^= 1;
    add_process(FIRST_FUNCTION, 0, 4);
    block_hash ^= 1;
    expect(1, 2);
}

static char *written(const char *format)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    coverage_format_named(format)->write(stream, &coverage, 20);
    fclose(stream);
    return text;
}

static void the_table_says_how_much_ran(void **state)
{
    char *text;

    (void)state;
    add_process(FIRST_FUNCTION, 0, 4);
    expect(1, 2);
    text = written(NULL);
    assert_non_null(strstr(text, "blocks     1 of 2 ran (50.0%)\n"));
    assert_non_null(strstr(text, "functions  1 of 1 ran (100.0%)\n"));
    assert_non_null(strstr(text, "no debug information"));
    free(text);
}

static void a_log_of_blocks_has_those_that_ran(void **state)
{
    const char table[] = "\nBB Table: 1 bbs\n";
    struct {
        uint32_t start;
        uint16_t size, image;
    } block;
    char *text, *at;

    (void)state;
    add_process(FIRST_FUNCTION, 0, 4);
    expect(1, 2);
    text = written("drcov");
    at = strstr(text, table);
    assert_non_null(at);
    memcpy(&block, at + sizeof(table) - 1, sizeof(block));
    assert_int_equal(block.start, SAMPLE_FUNCTION + 12);
    assert_int_equal(block.size, 20);
    assert_int_equal(block.image, 0);
    free(text);
}

static void other_formats_are_refused(void **state)
{
    (void)state;
    assert_null(coverage_format_named("pprof"));
    assert_non_null(coverage_format_named("lcov"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(padding_is_no_block, begin, end),
        cmocka_unit_test_setup_teardown(processes_add_up, begin, end),
        cmocka_unit_test_setup_teardown(bytes_of_nobody_are_left_out, begin, end),
        cmocka_unit_test_setup_teardown(blocks_of_another_making_are_left_out, begin, end),
        cmocka_unit_test_setup_teardown(the_table_says_how_much_ran, begin, end),
        cmocka_unit_test_setup_teardown(a_log_of_blocks_has_those_that_ran, begin, end),
        cmocka_unit_test(other_formats_are_refused),
    };

    return cmocka_run_group_tests(tests, make_image, remove_image);
}
