#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/find_bytes.h"

#include <cmocka.h>

#define SIZE 80

/* A block of its own for each: what reads beyond it is seen by sanitizers. */
static uint8_t *block(size_t size, unsigned kinds)
{
    uint8_t *bytes = malloc(size + 1);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((unsigned)rand() % kinds);
    return realloc(bytes, size ? size : 1);
}

static void test_as_memmem(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 200000; round++) {
        size_t size = (size_t)rand() % SIZE, wanted_size = 1 + (size_t)rand() % 8;
        uint8_t *bytes = block(size, 3), *wanted = block(wanted_size, 3);

        assert_ptr_equal(find_bytes(bytes, bytes + size, wanted, wanted_size),
                         memmem(bytes, size, wanted, wanted_size));
        free(bytes);
        free(wanted);
    }
}

static void test_at_each_place(void **state)
{
    static const uint8_t wanted[] = {0xff, 0, 0x80};
    uint8_t bytes[SIZE];

    (void)state;
    for (size_t at = 0; at + sizeof(wanted) <= SIZE; at++) {
        memset(bytes, 1, SIZE);
        memcpy(bytes + at, wanted, sizeof(wanted));
        assert_ptr_equal(find_bytes(bytes, bytes + SIZE, wanted, sizeof(wanted)), bytes + at);
        assert_null(find_bytes(bytes, bytes + at + sizeof(wanted) - 1, wanted, sizeof(wanted)));
        assert_null(find_bytes(bytes + at + 1, bytes + SIZE, wanted, sizeof(wanted)));
    }
    assert_null(find_bytes(bytes, bytes, wanted, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_memmem),
        cmocka_unit_test(test_at_each_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
