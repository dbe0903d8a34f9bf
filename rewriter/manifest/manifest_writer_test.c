#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "image/manifest.h"
#include "rewriter/manifest/manifest_writer.h"
#include "support/memory.h"

#include <cmocka.h>

static uint8_t bytes[32] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x53, 0xc3};
static struct code_range range = {0x401000, bytes, sizeof(bytes)};
static const struct code code = {.ranges = &range, .range_count = 1};
static struct function functions[] = {
    {.address = 0x401000,
     .end = 0x40100a,
     .reason = PATCH_PLAIN,
     .patch_offset = 4,
     .displaced = 5,
     .patch_size = 5,
     .stub = 0x40},
    {.address = 0x401010, .end = 0x401020, .reason = PATCH_TOO_SHORT},
    {.address = 0x403ff0,
     .end = 0x403ff8,
     .name = "read",
     .reason = PATCH_IMPORT,
     .is_import = true,
     .stub = 0x80},
};
static const struct function_list list = {.items = functions, .count = 3};

static struct manifest_change change_items[] = {
    {.file_offset = 32, .size = 8, .original = {0x40}},
    {.file_offset = 0x1234, .size = 4, .original = {1, 2, 3, 4}},
};
static const struct change_list changes = {.items = change_items, .count = 2};

static struct copy copy_items[] = {
    {.address = 0x600000, .size = 40, .function = 0},
    {.address = 0x600030, .size = 0x20000, .function = 1},
};
static struct copy_site copy_sites[] = {{0x600010, 0x401008}, {0x600020, 0x401008}};
/* The second is far behind the first one's end, and in the second copy. */
static struct copy_stretch copy_stretches[] = {{0x600004, 12}, {0x600014, 12}, {0x620000, 7}};
static const struct copy_set copies = {.items = copy_items,
                                       .count = 2,
                                       .sites = copy_sites,
                                       .site_count = 2,
                                       .stretches = copy_stretches,
                                       .stretch_count = 3};

static const struct manifest_source source = {
    .code = &code,
    .functions = &list,
    .changes = &changes,
    .copies = &copies,
    .original_path = "/usr/bin/program",
    .agent_path = "$ORIGIN/libhooks.so",
    .original_size = 12345,
    .original_hash = 0x1122334455667788,
    .base = 0x400000,
    .stubs = 0x500000,
    .build_id = (const uint8_t *)"\x01\x02\x03",
    .build_id_size = 3,
};

static uint8_t *written(void)
{
    uint8_t *to = memory_zeroed(1, manifest_size(&source));

    manifest_write(&source, to);
    return to;
}

static void test_what_is_written_is_read(void **state)
{
    static const struct manifest_stretch expected[] = {
        {4, 12}, {4, 12}, {UINT16_MAX, 0}, {0x1ffd0 - UINT16_MAX, 7}};
    uint8_t *to = written();
    struct bounded_file file = bounded_file_of(to, manifest_size(&source));
    struct manifest manifest;

    (void)state;
    assert_int_equal(manifest_read(&manifest, &file, 0, file.size), MANIFEST_WHOLE);
    assert_int_equal(manifest.function_count, 3);
    assert_int_equal(manifest.head->original_hash, source.original_hash);
    assert_int_equal(manifest.head->preferred_base, 0x400000);
    assert_string_equal((char *)to + manifest.head->original_path, "/usr/bin/program");
    assert_string_equal((char *)to + manifest.head->agent_path, "$ORIGIN/libhooks.so");
    assert_memory_equal(to + manifest.head->build_id, "\x01\x02\x03", 3);
    assert_int_equal(manifest.functions[0].rva, 0x1000);
    assert_int_equal(manifest.functions[0].size, 10);
    assert_int_equal(manifest.functions[0].stub_rva, 0x100040);
    assert_int_equal(manifest.functions[0].state, FUNCTION_HOOKED);
    assert_memory_equal(manifest.functions[0].original, bytes + 4, 16);
    assert_int_equal(manifest.functions[1].state, FUNCTION_SKIPPED);
    assert_int_equal(manifest.functions[1].reason, PATCH_TOO_SHORT);
    assert_int_equal(manifest.functions[1].stub_rva, 0);
    assert_int_equal(manifest.functions[2].stub_rva, 0x100080);
    assert_int_equal(manifest.functions[2].patch_size, 0);
    assert_int_equal(manifest.head->import_count, 1);
    assert_string_equal(manifest_import_name(&manifest, 2), "read");
    assert_null(manifest_import_name(&manifest, 0));
    assert_null(manifest_import_name(&manifest, UINT32_MAX));
    assert_int_equal(manifest.head->change_count, 2);
    assert_memory_equal(manifest.changes, change_items, sizeof(change_items));
    assert_int_equal(manifest.copy_count, 2);
    assert_int_equal(manifest_copy_at(&manifest, 0x200030)->function, 1);
    assert_int_equal(manifest.site_count, 2);
    assert_int_equal(manifest_original_site(&manifest, 0x200020), 0x1008);
    assert_int_equal(manifest.copies[0].counted, 0);
    assert_int_equal(manifest.copies[1].counted, 2);
    assert_int_equal(manifest.stretch_count, 4);
    assert_memory_equal(manifest.stretches, expected, sizeof(expected));
    manifest_free(&manifest);
    free(to);
}

static void test_a_long_change_takes_several_entries(void **state)
{
    static const uint8_t original[25] = {1, 2, 3, [11] = 4, [22] = 5};
    struct change_list list_of_changes = {0};

    (void)state;
    assert_true(change_list_add(&list_of_changes, 0x1000, original, sizeof(original)));
    assert_int_equal(list_of_changes.count, 3);
    assert_int_equal(list_of_changes.items[1].file_offset, 0x100b);
    assert_int_equal(list_of_changes.items[1].original[0], 4);
    assert_int_equal(list_of_changes.items[2].size, 3);
    assert_int_equal(list_of_changes.items[2].original[0], 5);
    assert_false(change_list_add(&list_of_changes, UINT32_MAX, original, 2));
    assert_false(change_list_add(&list_of_changes, 1ull << 32, original, 1));
    free(list_of_changes.items);
}

static void test_every_reason_has_a_word(void **state)
{
    (void)state;
    for (unsigned reason = PATCH_PLAIN; reason <= PATCH_PADDING; reason++)
        assert_true(patch_reason_is_hooked((uint8_t)reason));
    for (unsigned reason = PATCH_FRAGMENT; reason <= PATCH_UNWINDER + 1; reason++)
        assert_string_not_equal(patch_reason_word((uint8_t)reason), "?");
    for (unsigned reason = PATCH_TOO_SHORT; reason <= PATCH_UNDECODABLE; reason++)
        assert_string_not_equal(patch_reason_word((uint8_t)reason), "?");
    assert_true(patch_reason_is_hooked(PATCH_IMPORT));
    assert_string_equal(patch_reason_word(PATCH_IMPORT), "import");
    assert_string_equal(patch_reason_word(PATCH_IMPORT_SPECIAL), "import-special");
    assert_string_equal(patch_reason_word(255), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_a_long_change_takes_several_entries),
        cmocka_unit_test(test_every_reason_has_a_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
