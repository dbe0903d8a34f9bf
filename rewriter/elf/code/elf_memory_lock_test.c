/* The system call mlockall of a static program: what is taken for it, and where it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/code/elf_memory_lock.h"
#include "rewriter/elf/write/elf_memory_lock_stubs.h"

#include <cmocka.h>

#define BASE   0x401000u
#define STUBS  0x500000u
#define TARGET 0x510000u
#define SIZE   80

/* Two functions of nops, of 32 bytes and the rest. */
static const uint8_t alone[] = {0xb8, 0x97, 0, 0, 0, 0x0f, 0x05, 0xc3};
static const uint8_t other_register[] = {0x41, 0xb8, 0x97, 0, 0, 0, 0x0f, 0x05, 0xc3};

struct place {
    uint8_t bytes[SIZE];
    struct code_range range;
    struct code code;
    struct code_map map;
    struct function_list functions;
    struct elf_memory_locks locks;
    struct stub_segment stubs;
};

static int place_begin(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    memset(place->bytes, 0x90, SIZE);
    place->range = (struct code_range){BASE, place->bytes, SIZE};
    place->code =
        (struct code){.processor = &processor_x86_64, .ranges = &place->range, .range_count = 1};
    place->stubs.address = STUBS;
    code_map_init(&place->map, &place->code);
    function_list_add(&place->functions, (struct function){.address = BASE, .end = BASE + 32});
    function_list_add(&place->functions,
                      (struct function){.address = BASE + 32, .end = BASE + SIZE});
    function_list_settle(&place->functions);
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

static void find(struct place *place, bool is_static)
{
    elf_memory_locks_find(&place->locks, &place->code, &place->map, &place->functions, is_static);
}

static uint64_t target_of(const uint8_t *field, uint64_t address)
{
    int32_t distance;

    memcpy(&distance, field, sizeof(distance));
    return address + sizeof(distance) + (uint64_t)(int64_t)distance;
}

static void test_it_goes_to_a_stub_and_from_there_to_the_agent(void **state)
{
    struct place *place = *state;
    struct change_list changes = {0};
    struct failure failure;
    const uint8_t *stub;

    memcpy(place->bytes + 4, alone, sizeof(alone));
    find(place, true);
    assert_int_equal(place->locks.count, 1);
    assert_int_equal(place->locks.items[0], BASE + 4);
    assert_int_equal(place->functions.items[0].reason, PATCH_MEMORY_LOCK);
    assert_int_equal(place->functions.items[1].reason, PATCH_UNDECIDED);

    assert_true(elf_memory_locks_note(&changes, &place->locks, &place->code,
                                      &(struct patched_file){"image", place->bytes}, &failure));
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].size, 7);
    assert_memory_equal(changes.items[0].original, alone, 7);
    free(changes.items);

    assert_int_equal(elf_memory_locks_append(&place->stubs, &place->locks), 0);
    elf_memory_locks_store(&place->stubs, 0, &place->locks, &place->code, TARGET);
    stub = place->stubs.code.bytes;
    assert_int_equal(place->bytes[4], 0xe9);
    assert_int_equal(target_of(place->bytes + 5, BASE + 5), STUBS);
    assert_int_equal(place->bytes[11], 0xc3);
    assert_int_equal(place->stubs.code.size, 12);
    assert_int_equal(target_of(stub + 3, STUBS + 3), BASE + 11);
    assert_int_equal(target_of(stub + 8, STUBS + 8), TARGET);
}

static void test_one_behind_the_prologue_leaves_the_function_to_be_hooked(void **state)
{
    struct place *place = *state;

    memcpy(place->bytes + 32 + PATCH_MAX_DISPLACED, alone, sizeof(alone));
    find(place, true);
    assert_int_equal(place->locks.count, 1);
    assert_int_equal(place->functions.items[1].reason, PATCH_UNDECIDED);
}

static void test_a_number_for_another_register_is_none(void **state)
{
    struct place *place = *state;

    memcpy(place->bytes, other_register, sizeof(other_register));
    find(place, true);
    assert_int_equal(place->locks.count, 0);
}

static void test_one_that_something_jumps_into_is_left_alone(void **state)
{
    struct place *place = *state;

    memcpy(place->bytes, alone, sizeof(alone));
    address_set_add(&place->map.jumps, BASE + 5);
    find(place, true);
    assert_int_equal(place->locks.count, 0);
    assert_int_equal(place->functions.items[0].reason, PATCH_UNDECIDED);
}

static void test_one_that_a_function_ends_in_is_left_alone(void **state)
{
    struct place *place = *state;

    memcpy(place->bytes + 28, alone, sizeof(alone));
    find(place, true);
    assert_int_equal(place->locks.count, 0);
}

static void test_in_a_dynamic_image_it_stays(void **state)
{
    struct place *place = *state;

    memcpy(place->bytes, alone, sizeof(alone));
    find(place, false);
    assert_int_equal(place->locks.count, 0);
    assert_int_equal(place->functions.items[0].reason, PATCH_MEMORY_LOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_goes_to_a_stub_and_from_there_to_the_agent,
                                        place_begin, place_end),
        cmocka_unit_test_setup_teardown(
            test_one_behind_the_prologue_leaves_the_function_to_be_hooked, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_a_number_for_another_register_is_none, place_begin,
                                        place_end),
        cmocka_unit_test_setup_teardown(test_one_that_something_jumps_into_is_left_alone,
                                        place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_in_a_dynamic_image_it_stays, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_one_that_a_function_ends_in_is_left_alone, place_begin,
                                        place_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
