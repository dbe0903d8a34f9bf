#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "grinder/image/code_hash.h"

#include <cmocka.h>

static const struct loaded_ranges anywhere = {.base = 0, .end = 0x10000};
static const struct loaded_ranges fixed = {.base = 0x400000, .end = 0x410000};

#define HASH(rva, ranges, ...)                                                                     \
    code_hash((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), rva, ranges)

static void distances_to_elsewhere_do_not_count(void **state)
{
    (void)state;
    /* call; mov rax, [rip + …]; ret */
    assert_int_equal(HASH(0x1000, &anywhere, 0xe8, 1, 2, 0, 0, 0x48, 0x8b, 0x05, 1, 2, 3, 0, 0xc3),
                     HASH(0x1230, &anywhere, 0xe8, 9, 9, 9, 0, 0x48, 0x8b, 0x05, 7, 7, 7, 0, 0xc3));
    /* ret; jmp out of it, in two bytes and in five */
    assert_int_equal(HASH(0x1000, &anywhere, 0xc3, 0xeb, 0x40),
                     HASH(0x1000, &anywhere, 0xc3, 0xe9, 0, 4, 0, 0));
    /* je there is another one */
    assert_int_not_equal(HASH(0x1000, &anywhere, 0xc3, 0xeb, 0x40),
                         HASH(0x1000, &anywhere, 0xc3, 0x74, 0x40));
}

static void what_is_done_counts(void **state)
{
    (void)state;
    /* mov ecx, 100 or 101 */
    assert_int_not_equal(HASH(0x1000, &anywhere, 0xb9, 100, 0, 0, 0, 0xc3),
                         HASH(0x1000, &anywhere, 0xb9, 101, 0, 0, 0, 0xc3));
    /* mov eax, [rdi + 0x40] or [rdi + 0x44] */
    assert_int_not_equal(HASH(0x1000, &anywhere, 0x8b, 0x47, 0x40, 0xc3),
                         HASH(0x1000, &anywhere, 0x8b, 0x47, 0x44, 0xc3));
    /* where a loop of two instructions goes back to */
    assert_int_not_equal(HASH(0x1000, &anywhere, 0xff, 0xc9, 0xff, 0xc1, 0x75, 0xfa, 0xc3),
                         HASH(0x1000, &anywhere, 0xff, 0xc9, 0xff, 0xc1, 0x75, 0xfc, 0xc3));
}

static void padding_does_not_count(void **state)
{
    (void)state;
    /* xor eax, eax; nops; a loop */
    assert_int_equal(HASH(0x1000, &anywhere, 0x31, 0xc0, 0xff, 0xc9, 0x75, 0xfc, 0xc3),
                     HASH(0x1000, &anywhere, 0x31, 0xc0, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x90, 0xff,
                          0xc9, 0x75, 0xfc, 0xc3));
}

static void addresses_count_only_where_they_are_numbers(void **state)
{
    (void)state;
    /* mov edi, 0x404010 or 0x404030, and [0x404010] */
    assert_int_equal(HASH(0x1000, &fixed, 0xbf, 0x10, 0x40, 0x40, 0, 0xc3),
                     HASH(0x1000, &fixed, 0xbf, 0x30, 0x40, 0x40, 0, 0xc3));
    assert_int_equal(HASH(0x1000, &fixed, 0x8b, 0x04, 0x25, 0x10, 0x40, 0x40, 0, 0xc3),
                     HASH(0x1000, &fixed, 0x8b, 0x04, 0x25, 0x30, 0x40, 0x40, 0, 0xc3));
    assert_int_not_equal(HASH(0x1000, &anywhere, 0xbf, 0x10, 0x40, 0, 0, 0xc3),
                         HASH(0x1000, &anywhere, 0xbf, 0x30, 0x40, 0, 0, 0xc3));
    assert_int_not_equal(HASH(0x1000, &fixed, 0xbf, 0x10, 0x40, 0x41, 0, 0xc3),
                         HASH(0x1000, &fixed, 0xbf, 0x30, 0x40, 0x41, 0, 0xc3));
}

/* 0x40 is a prefix of a nop, or inc eax. */
static void a_processor_has_its_own_instructions(void **state)
{
    static const struct loaded_ranges i386 = {.machine = EM_386, .base = 0, .end = 0x10000};

    (void)state;
    assert_int_equal(HASH(0x1000, &anywhere, 0x40, 0x90, 0xc3), HASH(0x1000, &anywhere, 0xc3));
    assert_int_not_equal(HASH(0x1000, &i386, 0x40, 0x90, 0xc3), HASH(0x1000, &i386, 0xc3));
    assert_int_equal(HASH(0x1000, &i386, 0x40, 0x90, 0xc3), HASH(0x1000, &i386, 0x40, 0xc3));
}

static void what_is_no_code_is_hashed_by_bytes(void **state)
{
    (void)state;
    assert_int_equal(HASH(0x1000, &anywhere, 0x06, 0x07), HASH(0x2000, &anywhere, 0x06, 0x07));
    assert_int_not_equal(HASH(0x1000, &anywhere, 0x06, 0x07), HASH(0x1000, &anywhere, 0x06, 0x17));
    /* cut off amid an instruction */
    assert_int_not_equal(HASH(0x1000, &anywhere, 0xe8, 1), HASH(0x1000, &anywhere, 0xe8, 2));
}

/* AddressSanitizer sees what lies outside. */
static void any_bytes_have_a_hash(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (uint32_t size = 1; size < 300; size++) {
        uint8_t *bytes = malloc(size);
        for (uint32_t i = 0; i < size; i++) {
            random = random * 1103515245 + 12345;
            bytes[i] = random >> 30 ? (uint8_t)(random >> 16) : 0xeb; /* many short jumps */
        }
        assert_int_not_equal(code_hash(bytes, size, 0x1000, &fixed), 0);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_to_elsewhere_do_not_count),
        cmocka_unit_test(what_is_done_counts),
        cmocka_unit_test(padding_does_not_count),
        cmocka_unit_test(addresses_count_only_where_they_are_numbers),
        cmocka_unit_test(a_processor_has_its_own_instructions),
        cmocka_unit_test(what_is_no_code_is_hashed_by_bytes),
        cmocka_unit_test(any_bytes_have_a_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
