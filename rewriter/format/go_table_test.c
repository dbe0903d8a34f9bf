/* Go's table of functions in its four layouts, and bytes that only begin like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rewriter/format/go_table.h"

#include <cmocka.h>

#define BEFORE 32 /* bytes in front of the table */

static uint8_t bytes[BEFORE + 256];

static void put(size_t offset, uint64_t number, size_t size)
{
    memcpy(bytes + BEFORE + offset, &number, size);
}

static size_t found(void)
{
    return go_table_next(bytes, sizeof(bytes), 0);
}

static void put_head(uint32_t magic, uint64_t functions)
{
    memset(bytes, 0, sizeof(bytes));
    put(0, magic, 4);
    put(6, 1, 1);
    put(7, 8, 1);
    put(8, functions, 8);
}

/* Two functions, and five parts of 16 bytes each but for the last. */
static void put_new(uint32_t magic, size_t offsets, size_t half)
{
    put_head(magic, 2);
    put(16, 1, 8);
    for (size_t i = 0; i < 5; i++)
        put(offsets + i * 8, offsets + 40 + i * 16, 8);
    for (size_t i = 0; i < 2; i++) {
        put(offsets + 104 + i * 2 * half, i * 32, half);
        put(offsets + 104 + i * 2 * half + half, 5 * half + i * 8, half);
    }
    put(offsets + 104 + 4 * half, 64, half);
}

static void put_old(void)
{
    put_head(0xfffffffb, 2);
    put(16, 0x401000, 8);
    put(24, 64, 8);
    put(32, 0x401040, 8);
    put(40, 96, 8);
    put(48, 0x401080, 8);
    put(56, 128, 4);
}

static void finds_tables_of_all_versions(void **state)
{
    (void)state;
    put_new(0xfffffff1, 32, 4);
    assert_int_equal(found(), BEFORE);
    assert_int_equal(go_table_next(bytes, sizeof(bytes), BEFORE), BEFORE);
    assert_int_equal(go_table_next(bytes, sizeof(bytes), BEFORE + 1), SIZE_MAX);
    put_new(0xfffffff0, 32, 4);
    assert_int_equal(found(), BEFORE);
    put_new(0xfffffffa, 24, 8);
    assert_int_equal(found(), BEFORE);
    put_old();
    assert_int_equal(found(), BEFORE);
}

static void leaves_what_only_begins_like_one(void **state)
{
    (void)state;
    put_new(0xfffffff2, 32, 4);
    assert_int_equal(found(), SIZE_MAX);
    put_new(0xfffffff1, 32, 4);
    put(6, 4, 1); /* of a machine with instructions of 4 bytes */
    assert_int_equal(found(), SIZE_MAX);
    put_new(0xfffffff1, 32, 4);
    put(8, 0, 8); /* no function */
    assert_int_equal(found(), SIZE_MAX);
    put_new(0xfffffff1, 32, 4);
    put(8, UINT64_MAX / 8, 8);
    assert_int_equal(found(), SIZE_MAX);
    put_new(0xfffffff1, 32, 4);
    put(40, 4096, 8); /* a part behind the end */
    assert_int_equal(found(), SIZE_MAX);
    put_new(0xfffffff1, 32, 4);
    put(48, 8, 8); /* parts in another order */
    assert_int_equal(found(), SIZE_MAX);
    put_new(0xfffffff1, 32, 4);
    put(32 + 104 + 4, 3, 4); /* a function among the entries */
    assert_int_equal(found(), SIZE_MAX);
    put_old();
    put(56, 4096, 4);
    assert_int_equal(found(), SIZE_MAX);
    /* The end of the file behind each of its bytes. */
    put_new(0xfffffff1, 32, 4);
    for (size_t size = 0; size < BEFORE + 156; size++)
        assert_int_equal(go_table_next(bytes, size, 0), SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_tables_of_all_versions),
        cmocka_unit_test(leaves_what_only_begins_like_one),
    };

    return cmocka_run_group_tests_name("Go's tables", tests, NULL, NULL);
}
