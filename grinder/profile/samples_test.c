/* An image of three functions, a library, the agent, and samples in all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/profile/images.h"
#include "grinder/profile/samples.h"
#include "grinder/profile/tree.h"
#include "trace/sample_format.h"

#include <cmocka.h>

#define PROGRAM 0x550000000000ull
#define LIBRARY 0x7f0000000000ull
#define AGENT   0x7f1000000000ull
#define THUNKS  0x7f2000000000ull
#define CREATED 1234567890123ull

enum { PARSE = 1, PRINT }; /* as numbers of all functions */

/* rva of each, and what is there:
 *
 *      0x1000  parse, hooked, 0x40 bytes       0x5000  its stub
 *      0x1040  a jump to a library, skipped
 *      0x1080  print, hooked, size unknown     0x5100  its stub
 *      0x2000  never, hooked, not recorded     0x5200  its stub
 *
 *      0x6100  copies of parse, the jump, print and never, 0x80 bytes each
 */
static const struct manifest_function functions[] = {
    {.rva = 0x1000, .size = 0x40, .stub_rva = 0x5000, .state = FUNCTION_HOOKED},
    {.rva = 0x1040, .size = 0x10, .state = FUNCTION_SKIPPED},
    {.rva = 0x1080, .stub_rva = 0x5100, .state = FUNCTION_HOOKED},
    {.rva = 0x2000, .size = 0x10, .stub_rva = 0x5200, .state = FUNCTION_HOOKED},
};
enum { COPIES = 4 };
static const struct manifest_copy copies[COPIES] = {
    {.rva = 0x6100, .size = 0x80, .function = 0},
    {.rva = 0x6180, .size = 0x80, .function = 1},
    {.rva = 0x6200, .size = 0x80, .function = 2},
    {.rva = 0x6280, .size = 0x80, .function = 3},
};
static struct image all_images[] = {{0},
                                    {.manifest = {.functions = functions,
                                                  .function_count = 4,
                                                  .stub_frame = STUB_FRAME_SIZE,
                                                  .copies = copies,
                                                  .copy_count = COPIES},
                                     .function_count = 4}};
static struct function all_functions[] = {{0}, {.image = 1, .index = 0}, {.image = 1, .index = 2}};
static struct images images = {.images = all_images, .count = 2, .functions = all_functions};
static struct tree_module modules[] = {
    {0},
    {.path = "/lib/libc.so.6", .base = LIBRARY, .size = 0x10000},
    {.path = "/opt/umbra/libhooks.so", .base = AGENT, .size = 0x10000},
    {.path = "/bin/program", .base = PROGRAM, .size = 0x10000},
    {.path = "/bin/program", .base = PROGRAM, .size = 0x10000, .image = 1, .first_function = 1},
};
static struct tree_thread threads[2];
static char folder[] = "/tmp/samples_test.XXXXXX";
static char trace[64], path[64];
static struct tree tree;

static void begin(void)
{
    threads[0] = (struct tree_thread){.record = {.ordinal = 1, .tid = 70}};
    threads[1] = (struct tree_thread){.record = {.ordinal = 2, .tid = 71}};
    tree = (struct tree){
        .path = trace,
        .header = {.pid = 70, .created_ns = CREATED, .thunks = THUNKS, .thunks_size = 0x1000},
        .threads = threads,
        .thread_count = 2,
        .modules = modules,
        .module_count = 5,
    };
}

static void end(void)
{
    for (size_t i = 0; i < 2; i++)
        thread_samples_free(&threads[i].samples);
    unlink(path);
}

static struct samples_header header_of(uint32_t count, uint64_t taken)
{
    struct samples_header header = {.version = SAMPLES_VERSION,
                                    .entry_count = count,
                                    .created_ns = CREATED,
                                    .pid = 70,
                                    .period_ns = 1000,
                                    .taken = taken};

    memcpy(header.magic, SAMPLES_MAGIC, sizeof(header.magic));
    return header;
}

static void write_file(const struct samples_header *header, const struct sample *samples,
                       size_t count)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(header, sizeof(*header), 1, file), 1);
    assert_int_equal(fwrite(samples, sizeof(*samples), count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void expect(const struct thread_samples *samples, size_t place, uint32_t function,
                   uint64_t count)
{
    assert_true(place < samples->count);
    assert_int_equal(samples->functions[place].function, function);
    assert_int_equal(samples->functions[place].count, count);
}

static void read_samples(const struct sample *samples, size_t count, uint64_t lost)
{
    struct samples_header header = header_of((uint32_t)count, 0);

    for (size_t i = 0; i < count; i++)
        header.taken += samples[i].count;
    header.lost = lost;
    begin();
    write_file(&header, samples, count);
    samples_read(&tree, &images);
}

static void an_address_in_a_function_is_the_functions(void **state)
{
    const struct sample samples[] = {{PROGRAM + 0x1000, 0, 70, 1},
                                     {PROGRAM + 0x103f, 0, 70, 2},
                                     {PROGRAM + 0x1fff, 0, 70, 4},
                                     {PROGRAM + 0x1001, 0, 71, 8}};

    (void)state;
    read_samples(samples, 4, 0);
    assert_int_equal(threads[0].samples.count, 2);
    expect(&threads[0].samples, 0, PARSE, 3);
    expect(&threads[0].samples, 1, PRINT, 4);
    assert_int_equal(threads[1].samples.count, 1);
    expect(&threads[1].samples, 0, PARSE, 8);
    assert_true(threads[0].samples.period_ns == 1000);
    end();
}

static void stubs_and_the_agent_are_hooks_but_for_what_was_displaced(void **state)
{
    const struct sample samples[] = {{PROGRAM + 0x5000, 0, 70, 1},
                                     {PROGRAM + 0x5000 + STUB_FRAME_SIZE + 1, 0, 70, 2},
                                     {PROGRAM + 0x5100 + STUB_FRAME_SIZE, 0, 70, 4},
                                     {PROGRAM + 0x5100 + STUB_FRAME_SIZE + 5, 0, 70, 8},
                                     {PROGRAM + 0x6000, 0, 70, 16},
                                     {AGENT + 7, PROGRAM + 0x1001, 70, 32},
                                     {THUNKS + 0xfff, PROGRAM + 0x1001, 70, 64}};

    (void)state;
    all_images[1].manifest.copy_count = 0;
    read_samples(samples, 7, 0);
    all_images[1].manifest.copy_count = COPIES;
    assert_int_equal(threads[0].samples.in_hooks, 1 + 4 + 16 + 32 + 64);
    expect(&threads[0].samples, 0, PARSE, 2);
    expect(&threads[0].samples, 1, PRINT, 8);
    end();
}

static void a_stub_of_what_is_copied_ends_with_a_jump(void **state)
{
    const struct sample samples[] = {{PROGRAM + 0x5000 + STUB_FRAME_SIZE + 4, 0, 70, 1},
                                     {PROGRAM + 0x5000 + STUB_FRAME_SIZE + 5, 0, 70, 2}};

    (void)state;
    read_samples(samples, 2, 0);
    assert_int_equal(threads[0].samples.in_hooks, 2);
    expect(&threads[0].samples, 0, PARSE, 1);
    end();
}

static void an_address_in_a_copy_is_the_functions(void **state)
{
    const struct sample samples[] = {
        {PROGRAM + 0x60ff, 0, 70, 1},  {PROGRAM + 0x6100, 0, 70, 2},
        {PROGRAM + 0x617f, 0, 70, 4},  {PROGRAM + 0x6180, 0, 70, 8},
        {PROGRAM + 0x6200, 0, 70, 16}, {PROGRAM + 0x6280, 0, 70, 32},
        {PROGRAM + 0x6300, 0, 70, 64}, {LIBRARY, PROGRAM + 0x6280, 70, 128}};

    (void)state;
    read_samples(samples, 8, 0);
    assert_int_equal(threads[0].samples.in_hooks, 1 + 64);
    assert_int_equal(threads[0].samples.elsewhere, 8 + 32);
    expect(&threads[0].samples, 0, PARSE, 2 + 4);
    expect(&threads[0].samples, 1, PRINT, 16 + 128);
    end();
}

/* 12 were found in functions or elsewhere; 4 of these were elsewhere. */
static void what_a_function_does_elsewhere_is_its_own(void **state)
{
    const struct sample samples[] = {{0x1000, 0, 70, 1},
                                     {PROGRAM + 0x1040, 0, 70, 1},
                                     {PROGRAM + 0x2000, 0, 70, 1},
                                     {LIBRARY + 1, 0, 70, 1},
                                     {LIBRARY + 2, PROGRAM + 0x1040, 70, 5},
                                     {LIBRARY + 2, PROGRAM + 0x1090, 70, 3}};

    (void)state;
    read_samples(samples, 6, 0);
    assert_int_equal(threads[0].samples.elsewhere, 4);
    assert_int_equal(threads[0].samples.in_functions, 8);
    expect(&threads[0].samples, 0, PARSE, 5);
    expect(&threads[0].samples, 1, PRINT, 3);
    assert_true(threads[0].samples.period_ns == 1500);
    end();
}

static void those_that_were_lost_are_like_the_others(void **state)
{
    const struct sample samples[] = {{PROGRAM + 0x1000, 0, 70, 10}, {AGENT, 0, 70, 10}};

    (void)state;
    read_samples(samples, 2, 20);
    assert_true(threads[0].samples.period_ns == 2000);
    end();
}

static void threads_that_were_not_recorded_are_passed_over(void **state)
{
    const struct sample samples[] = {{PROGRAM + 0x1000, 0, 69, 1}, {PROGRAM + 0x1000, 0, 71, 2}};

    (void)state;
    read_samples(samples, 2, 0);
    assert_int_equal(threads[0].samples.count, 0);
    expect(&threads[1].samples, 0, PARSE, 2);
    end();
}

static void expect_none(const struct samples_header *header, size_t count)
{
    const struct sample sample = {PROGRAM + 0x1000, 0, 70, 1};

    begin();
    write_file(header, &sample, count);
    samples_read(&tree, &images);
    assert_int_equal(threads[0].samples.in_functions, 0);
    end();
}

static void files_that_make_no_sense_are_left_out(void **state)
{
    struct samples_header header = header_of(1, 1);

    (void)state;
    expect_none(&header, 0); /* cut off */
    header.entry_count = UINT32_MAX;
    expect_none(&header, 1);
    header = header_of(1, 1);
    header.created_ns++;
    expect_none(&header, 1);
    header = header_of(1, 1);
    header.pid++;
    expect_none(&header, 1);
    header = header_of(1, 1);
    header.version++;
    expect_none(&header, 1);
    header = header_of(1, 1);
    header.magic[0]++;
    expect_none(&header, 1);
    header = header_of(1, 0); /* says that none was taken */
    begin();
    write_file(&header, &(struct sample){PROGRAM + 0x1000, 0, 70, 1}, 1);
    samples_read(&tree, &images);
    expect(&threads[0].samples, 0, PARSE, 1);
    end();
}

static void no_file_is_no_error(void **state)
{
    (void)state;
    begin();
    samples_read(&tree, &images);
    assert_int_equal(threads[0].samples.count, 0);
    end();
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    pair_index_add(&images.numbers, 0, 0);
    assert_int_equal(pair_index_add(&images.numbers, 2, 0), PARSE);
    assert_int_equal(pair_index_add(&images.numbers, 2, 2), PRINT);
    snprintf(trace, sizeof(trace), "%s/t.bin", folder);
    snprintf(path, sizeof(path), "%s/t.samples", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    pair_index_free(&images.numbers);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_in_a_function_is_the_functions),
        cmocka_unit_test(stubs_and_the_agent_are_hooks_but_for_what_was_displaced),
        cmocka_unit_test(a_stub_of_what_is_copied_ends_with_a_jump),
        cmocka_unit_test(an_address_in_a_copy_is_the_functions),
        cmocka_unit_test(what_a_function_does_elsewhere_is_its_own),
        cmocka_unit_test(those_that_were_lost_are_like_the_others),
        cmocka_unit_test(threads_that_were_not_recorded_are_passed_over),
        cmocka_unit_test(files_that_make_no_sense_are_left_out),
        cmocka_unit_test(no_file_is_no_error),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
