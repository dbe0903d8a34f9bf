/* Sites of imports: which are found, and what becomes of them where they stand and in stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_sweep.h"
#include "rewriter/elf/code/elf_imports.h"
#include "rewriter/elf/code/elf_names.h"

#include <cmocka.h>

#define BASE 0x401000u
#define SLOT 0x403000u

/*
 *       0   call  [rip + SLOT]      a function's first instruction: displaced
 *       6   bnd jmp [rip + SLOT]    stays
 *      13   call  [rip + other]     no import
 *      19   data16 rex.w call [rip + SLOT]     as for __tls_get_addr: left alone
 */
static const uint8_t original[] = {
    0xff, 0x15, 0xfa, 0x1f, 0x00, 0x00, 0xf2, 0xff, 0x25, 0xf3, 0x1f, 0x00, 0x00, 0xff,
    0x15, 0x00, 0x20, 0x00, 0x00, 0x66, 0x48, 0xff, 0x15, 0xe5, 0x1f, 0x00, 0x00, 0xc3,
};

static struct return_slot no_slot(void *context, uint64_t address)
{
    (void)context;
    (void)address;
    return (struct return_slot){.until = UINT64_MAX};
}

static void no_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

/* The bytes, swept, as an image of one segment; an import in the list, with a stub. */
struct place {
    uint8_t bytes[sizeof(original)];
    struct code_range range;
    struct code code;
    struct code_map map;
    Elf64_Phdr segment;
    uint32_t load; /* its index */
    struct elf_image image;
    struct function_list functions;
    struct stub_segment stubs;
    struct stub_moves moves[2];
};

static int place_begin(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    struct function function = {.address = BASE, .end = BASE + sizeof(original)};
    bool is_adjusted;

    memcpy(place->bytes, original, sizeof(original));
    place->range = (struct code_range){BASE, place->bytes, sizeof(original)};
    place->code = (struct code){.processor = &processor_x86_64,
                                .ranges = &place->range,
                                .range_count = 1,
                                .unwind = {NULL, no_begin, no_slot}};
    place->segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(original)};
    place->image = (struct elf_image){.path = "image",
                                      .class = &elf_class_x86_64,
                                      .bytes = place->bytes,
                                      .size = sizeof(original),
                                      .segments = &place->segment,
                                      .segment_count = 1,
                                      .loads = &place->load,
                                      .load_count = 1};
    place->stubs.processor = &processor_x86_64;
    place->stubs.address = 0x500000;
    code_map_init(&place->map, &place->code);
    code_sweep(&place->code, &function, &place->map);
    code_sweep(&place->code, &function, &place->map);
    code_map_settle(&place->map);
    function.reason = PATCH_ADJUSTED;
    function.displaced = function.patch_size = IMPORT_SITE_SIZE;
    assert_true(
        stub_body_append(&place->stubs, &function, original, &is_adjusted, &place->moves[0]));
    function_list_add(&place->functions, function);
    function_list_add(&place->functions, (struct function){.address = SLOT,
                                                           .end = SLOT + 8,
                                                           .name = "read",
                                                           .evidence = EVIDENCE_EXTENT,
                                                           .reason = PATCH_IMPORT,
                                                           .is_import = true});
    stub_append_import(&place->stubs, &place->functions.items[1], 1);
    *state = place;
    return 0;
}

static int place_end(void **state)
{
    struct place *place = *state;

    code_map_free(&place->map);
    function_list_free(&place->functions);
    free(place->stubs.code.bytes);
    free(place);
    return 0;
}

static uint64_t target_of(const uint8_t *branch, uint64_t address)
{
    int32_t distance;

    memcpy(&distance, branch + 2, sizeof(distance));
    return address + IMPORT_SITE_SIZE + (uint64_t)(int64_t)distance;
}

static void test_uses_of_slots_are_noted_once(void **state)
{
    struct place *place = *state;

    assert_int_equal(place->map.slot_use_count, 3);
    assert_int_equal(place->map.slot_uses[0].opcode, BASE);
    assert_true(place->map.slot_uses[0].is_call);
    assert_int_equal(place->map.slot_uses[1].instruction, BASE + 6);
    assert_int_equal(place->map.slot_uses[1].opcode, BASE + 7);
    assert_int_equal(place->map.slot_uses[1].slot, SLOT);
    assert_false(place->map.slot_uses[1].is_call);
    assert_int_not_equal(place->map.slot_uses[2].slot, SLOT);
}

static void test_sites_that_stay_are_noted_as_changes(void **state)
{
    struct place *place = *state;
    struct change_list changes = {0};
    struct failure failure;

    assert_true(import_sites_note(&changes, &place->functions, &place->code, &place->map,
                                  &(struct patched_file){"test", place->image.bytes}, &failure));
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].file_offset, 7);
    assert_int_equal(changes.items[0].size, IMPORT_SITE_SIZE);
    assert_memory_equal(changes.items[0].original, original + 7, IMPORT_SITE_SIZE);
    free(changes.items);
}

static void test_sites_lead_to_the_stub(void **state)
{
    struct place *place = *state;
    uint64_t stub = place->stubs.address + place->functions.items[1].stub;
    const uint8_t *leaving = place->stubs.code.bytes + STUB_CALL_LEAVING;

    import_sites_redirect(&place->functions, &place->code, &place->map, &place->stubs,
                          place->moves);
    assert_memory_equal(place->bytes + 6, "\xf2\x67\xe9", 3);
    assert_int_equal(target_of(place->bytes + 7, BASE + 7), stub);
    assert_memory_equal(leaving, "\x67\xe9", 2);
    assert_int_equal(target_of(leaving, place->stubs.address + STUB_CALL_LEAVING), stub);
    memcpy(place->bytes + 7, original + 7, IMPORT_SITE_SIZE);
    assert_memory_equal(place->bytes, original, sizeof(original));
}

static void test_imports_left_alone_keep_their_sites(void **state)
{
    struct place *place = *state;

    place->functions.items[1].reason = PATCH_RETURNS_TWICE;
    import_sites_redirect(&place->functions, &place->code, &place->map, &place->stubs,
                          place->moves);
    assert_memory_equal(place->bytes, original, sizeof(original));
}

static void test_names_that_are_left_alone(void **state)
{
    (void)state;
    assert_int_equal(elf_import_reason("read"), PATCH_UNDECIDED);
    assert_int_equal(elf_import_reason("__cxa_throw"), PATCH_UNDECIDED);
    assert_int_equal(elf_import_reason("_setjmp"), PATCH_RETURNS_TWICE);
    assert_int_equal(elf_import_reason("dlsym"), PATCH_RETURN_ADDRESS);
    assert_int_equal(elf_import_reason("_dl_find_object"), PATCH_RETURN_ADDRESS);
    assert_int_equal(elf_import_reason("_Unwind_Resume"), PATCH_UNWINDER);
    assert_int_equal(elf_import_reason("__tls_get_addr"), PATCH_IMPORT_SPECIAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_uses_of_slots_are_noted_once, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_sites_that_stay_are_noted_as_changes, place_begin,
                                        place_end),
        cmocka_unit_test_setup_teardown(test_sites_lead_to_the_stub, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_imports_left_alone_keep_their_sites, place_begin,
                                        place_end),
        cmocka_unit_test(test_names_that_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
