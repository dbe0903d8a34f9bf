/* A manifest is found, read and refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "image/manifest.h"
#include "image/sample_image.h"

#include <cmocka.h>

static struct sample_image image;
static struct image_manifest *const head = &image.added.head;

static int make_image(void **state)
{
    uint8_t original[SAMPLE_ADDED];

    (void)state;
    sample_image_make(&image, original);
    return 0;
}

static enum manifest_state load(struct manifest *manifest)
{
    struct bounded_file file = sample_image_file(&image);

    return manifest_load(manifest, &file);
}

/* Nothing is to be freed then. */
static void expect(enum manifest_state state)
{
    struct manifest manifest;

    assert_int_equal(load(&manifest), state);
    assert_null(manifest.head);
}

static void it_is_read(void **state)
{
    struct bounded_file file = sample_image_file(&image);
    struct manifest manifest;

    (void)state;
    assert_true(manifest_is_in(&file));
    assert_int_equal(load(&manifest), MANIFEST_WHOLE);
    assert_int_equal(manifest.function_count, 2);
    assert_int_equal(manifest.hooked, 2);
    assert_int_equal(manifest.stub_frame, STUB_FRAME_SIZE);
    assert_int_equal(manifest.functions[0].rva, SAMPLE_FUNCTION);
    assert_int_equal(manifest.changes[0].size, 2);
    assert_string_equal(manifest_import_name(&manifest, 1), "read");
    assert_null(manifest_import_name(&manifest, 0));
    assert_null(manifest_import_name(&manifest, UINT32_MAX));
    assert_int_equal(manifest.copy_count, 1);
    assert_int_equal(manifest_copy_at(&manifest, SAMPLE_COPY)->function, 0);
    assert_ptr_equal(manifest_copy_at(&manifest, SAMPLE_COPY + 63), manifest.copies);
    assert_null(manifest_copy_at(&manifest, SAMPLE_COPY + 64));
    assert_null(manifest_copy_at(&manifest, SAMPLE_COPY - 1));
    assert_ptr_equal(manifest_copy_of(&manifest, 0), manifest.copies);
    assert_null(manifest_copy_of(&manifest, 1));
    assert_int_equal(manifest_original_site(&manifest, SAMPLE_COPY + 20), SAMPLE_FUNCTION + 10);
    assert_int_equal(manifest_original_site(&manifest, SAMPLE_COPY + 64), SAMPLE_FUNCTION + 10);
    assert_int_equal(manifest_original_site(&manifest, SAMPLE_COPY + 21), SAMPLE_COPY + 21);
    assert_int_equal(manifest_original_site(&manifest, UINT32_MAX), UINT32_MAX);
    assert_string_equal(manifest_original_path(&manifest), "/bin/program");
    assert_null(manifest_string(&manifest, head->size));
    manifest_free(&manifest);
}

static void a_header_that_lies_elsewhere_is_none(void **state)
{
    struct bounded_file file = sample_image_file(&image);

    (void)state;
    image.added.header.header_rva += 64;
    expect(MANIFEST_MISSING);
    assert_false(manifest_is_in(&file));
    image.added.header.header_rva -= 64;
    image.added.header.manifest_rva = SAMPLE_ADDED + sizeof(image.added);
    expect(MANIFEST_MISSING);
    image.segments[1].p_flags = PF_R;
    expect(MANIFEST_MISSING);
}

static void another_version_is_told(void **state)
{
    (void)state;
    head->version++;
    expect(MANIFEST_OF_OTHER_VERSION);
}

static void a_short_one_is_refused(void **state)
{
    struct manifest manifest;
    uint8_t *bytes;

    (void)state;
    for (uint32_t less = 0; less < head->size; less++) {
        struct bounded_file file;

        bytes = malloc(less + 1u); /* a read past its end is seen */
        assert_non_null(bytes);
        memcpy(bytes, head, less);
        file = bounded_file_of(bytes, less);
        assert_int_not_equal(manifest_read(&manifest, &file, 0, less), MANIFEST_WHOLE);
        free(bytes);
    }
}

static void tables_lie_within_it(void **state)
{
    uint32_t *const counts[] = {&head->function_count, &head->change_count, &head->import_count,
                                &head->copy_count, &head->site_count};
    uint32_t *const offsets[] = {&head->functions, &head->changes, &head->imports, &head->copies,
                                 &head->sites};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint32_t count = *counts[i], offset = *offsets[i];

        *counts[i] = UINT32_MAX;
        expect(MANIFEST_MALFORMED);
        *counts[i] = count;
        *offsets[i] = head->size + 4;
        expect(MANIFEST_MALFORMED);
        *offsets[i] = 0;
        expect(MANIFEST_MALFORMED);
        *offsets[i] = offset + 1;
        expect(MANIFEST_MALFORMED);
        *offsets[i] = offset;
    }
    head->size = UINT32_MAX;
    expect(MANIFEST_MALFORMED);
}

static void items_fit_their_bytes(void **state)
{
    (void)state;
    image.added.changes[0].size = MANIFEST_CHANGE_SIZE + 1;
    expect(MANIFEST_MALFORMED);
    image.added.changes[0].size = 0;
    expect(MANIFEST_MALFORMED);
    image.added.changes[0].size = 1;
    image.added.functions[1].patch_size = 17;
    expect(MANIFEST_MALFORMED);
}

static void imports_have_a_function_and_a_name(void **state)
{
    (void)state;
    image.added.imports[0].name = UINT32_MAX;
    expect(MANIFEST_MALFORMED);
    image.added.imports[0].name = head->original_path;
    image.added.imports[0].function = 2;
    expect(MANIFEST_MALFORMED);
    image.added.imports[0].function = 0;
    memset(image.added.path, 'x', sizeof(image.added.path));
    expect(MANIFEST_MALFORMED);
}

/* Sets the field, expects a refusal, and puts it back. */
static void expect_refusal_of(uint32_t *field, uint32_t value)
{
    uint32_t before = *field;

    *field = value;
    expect(MANIFEST_MALFORMED);
    *field = before;
}

static void copies_are_in_order_and_of_a_function(void **state)
{
    struct sample_added *added = &image.added;
    struct manifest manifest;

    (void)state;
    expect_refusal_of(&added->copies[0].function, 2);
    expect_refusal_of(&added->copies[0].size, 0);
    expect_refusal_of(&added->copies[0].rva, UINT32_MAX - 62);
    head->copy_count = 2;
    added->copies[1] = (struct manifest_copy){SAMPLE_COPY + 64, 1, 1, 2, 0};
    assert_int_equal(load(&manifest), MANIFEST_WHOLE);
    assert_int_equal(manifest_copy_at(&manifest, SAMPLE_COPY + 64)->function, 1);
    manifest_free(&manifest);
    expect_refusal_of(&added->copies[0].size, 65);
    expect_refusal_of(&added->copies[0].function, 1);
}

static void sites_are_in_order_and_in_a_copy(void **state)
{
    struct sample_added *added = &image.added;

    (void)state;
    expect_refusal_of(&added->sites[0].copy, SAMPLE_COPY);
    expect_refusal_of(&added->sites[0].copy, SAMPLE_COPY - 1);
    expect_refusal_of(&added->sites[0].copy, SAMPLE_COPY + 64);
    expect_refusal_of(&added->sites[1].copy, SAMPLE_COPY + 65);
    expect_refusal_of(&added->sites[1].copy, SAMPLE_COPY + 20);
    expect_refusal_of(&added->sites[1].original, SAMPLE_FUNCTION);
    expect_refusal_of(&added->sites[1].original, SAMPLE_FUNCTION + 33);
    expect_refusal_of(&head->copy_count, 0);
}

static void what_counts_is_in_a_copy(void **state)
{
    struct sample_added *added = &image.added;
    struct manifest manifest;

    (void)state;
    expect_refusal_of(&added->copies[0].counted, 3);
    expect_refusal_of(&head->stretch_count, UINT32_MAX / sizeof(added->stretches[0]));
    added->stretches[1].size++;
    expect(MANIFEST_MALFORMED);
    added->copies[0].counted = 1;
    assert_int_equal(load(&manifest), MANIFEST_WHOLE);
    manifest_free(&manifest);
}

static void blocks_are_in_order(void **state)
{
    struct sample_added *added = &image.added;

    (void)state;
    expect_refusal_of(&head->block_count, UINT32_MAX / sizeof(added->blocks[0]));
    expect_refusal_of(&added->blocks[0].size, 13);
    expect_refusal_of(&added->blocks[2].rva, SAMPLE_FUNCTION + 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_read, make_image),
        cmocka_unit_test_setup(a_header_that_lies_elsewhere_is_none, make_image),
        cmocka_unit_test_setup(another_version_is_told, make_image),
        cmocka_unit_test_setup(a_short_one_is_refused, make_image),
        cmocka_unit_test_setup(tables_lie_within_it, make_image),
        cmocka_unit_test_setup(items_fit_their_bytes, make_image),
        cmocka_unit_test_setup(imports_have_a_function_and_a_name, make_image),
        cmocka_unit_test_setup(copies_are_in_order_and_of_a_function, make_image),
        cmocka_unit_test_setup(sites_are_in_order_and_in_a_copy, make_image),
        cmocka_unit_test_setup(what_counts_is_in_a_copy, make_image),
        cmocka_unit_test_setup(blocks_are_in_order, make_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
