/* An original is put together again, or what is in the way is told. Headers of PE images that grew:
   rewriter/pe/pe_writer_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "image/original.h"
#include "image/sample_image.h"

#include <cmocka.h>

static struct sample_image image;
static uint8_t original[SAMPLE_ADDED];

static int make_image(void **state)
{
    (void)state;
    sample_image_make(&image, original);
    return 0;
}

static struct original_result restore(void)
{
    struct bounded_file file = sample_image_file(&image);
    struct original_result result;
    struct manifest manifest;
    struct loaded_ranges ranges;

    assert_true(loaded_ranges_read(&ranges, &file));
    assert_int_equal(manifest_load(&manifest, &file), MANIFEST_WHOLE);
    assert_in_range(original_bytes_needed(&ranges, &manifest, file.size), 0, file.size);
    result = original_restore((uint8_t *)&image, file.size, &ranges, &manifest);
    manifest_free(&manifest);
    loaded_ranges_free(&ranges);
    return result;
}

static void expect(enum original_problem problem, uint64_t where)
{
    struct original_result result = restore();

    assert_int_equal(result.problem, problem);
    assert_int_equal(result.where, where);
}

static void it_is_put_together(void **state)
{
    (void)state;
    expect(ORIGINAL_WHOLE, 0);
    assert_memory_equal(&image, original, sizeof(original));
}

static void it_is_no_longer_than_the_image(void **state)
{
    (void)state;
    image.added.head.original_size = sizeof(image) + 1;
    expect(ORIGINAL_CUT_OFF, 0);
}

static void functions_are_the_originals(void **state)
{
    (void)state;
    image.added.head.site_count = 0;      /* they lie in the function */
    image.added.functions[0].rva = 0x7fe; /* the range has 0x800 bytes */
    expect(ORIGINAL_FUNCTION_ELSEWHERE, 0x7fe);
    image.added.functions[0].rva = SAMPLE_ADDED; /* added */
    expect(ORIGINAL_FUNCTION_ELSEWHERE, SAMPLE_ADDED);
    image.added.functions[0].rva = UINT32_MAX;
    image.added.functions[0].patch_offset = 255;
    expect(ORIGINAL_FUNCTION_ELSEWHERE, UINT32_MAX);
}

static void changes_are_the_originals(void **state)
{
    (void)state;
    image.added.changes[0].file_offset = SAMPLE_ADDED - 1;
    expect(ORIGINAL_CHANGE_ELSEWHERE, SAMPLE_ADDED - 1);
}

static void another_byte_is_seen(void **state)
{
    (void)state;
    image.bytes[0x700] ^= 1;
    expect(ORIGINAL_DIFFERS, 0);
}

static void parts_lie_within_the_file(void **state)
{
    struct bounded_file file = sample_image_file(&image);
    struct loaded_ranges ranges;
    uint64_t offset;

    (void)state;
    image.segments[0].p_offset = sizeof(image) - 4;
    image.segments[1].p_offset = UINT64_MAX;
    assert_true(loaded_ranges_read(&ranges, &file));
    assert_int_equal(ranges.count, 1);
    assert_true(loaded_ranges_find(&ranges, 0, 4, &offset));
    assert_int_equal(offset, sizeof(image) - 4);
    assert_false(loaded_ranges_find(&ranges, 1, 4, &offset));
    assert_false(loaded_ranges_find(&ranges, 4, 0, &offset));
    assert_false(loaded_ranges_find(&ranges, UINT64_MAX, 1, &offset));
    loaded_ranges_free(&ranges);
    image.header.e_phoff = UINT64_MAX;
    assert_false(loaded_ranges_read(&ranges, &file));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_put_together, make_image),
        cmocka_unit_test_setup(it_is_no_longer_than_the_image, make_image),
        cmocka_unit_test_setup(functions_are_the_originals, make_image),
        cmocka_unit_test_setup(changes_are_the_originals, make_image),
        cmocka_unit_test_setup(another_byte_is_seen, make_image),
        cmocka_unit_test_setup(parts_lie_within_the_file, make_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
