#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "service/sampling/sample_table.h"

#include <cmocka.h>

static void places_are_counted_and_sorted(void **state)
{
    struct sample_table table = {0};
    struct samples_header header = {.created_ns = 7, .pid = 8, .period_ns = 9, .lost = 10};
    static const struct sample expected[] = {
        {0, 0, 1, 2}, {5, 1, 1, 1}, {5, 2, 1, 1}, {6, 0, 1, 3}, {5, 1, 2, 1},
    };
    static const int order[] = {4, 3, 3, 0, 2, 1, 3, 0};
    unsigned char *bytes;
    size_t size;

    (void)state;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        const struct sample *place = &expected[order[i]];
        assert_true(sample_table_add(&table, place->tid, place->address, place->caller));
    }
    bytes = sample_table_code(&table, &header, &size);
    assert_non_null(bytes);
    assert_int_equal(size, sizeof(header) + sizeof(expected));
    assert_memory_equal(bytes, &header, sizeof(header));
    assert_memory_equal(bytes + sizeof(header), expected, sizeof(expected));
    assert_memory_equal(header.magic, SAMPLES_MAGIC, sizeof(header.magic));
    assert_int_equal(header.version, SAMPLES_VERSION);
    assert_int_equal(header.entry_count, 5);
    assert_int_equal(header.taken, 8);
    assert_int_equal(header.lost, 10);
    free(bytes);
    sample_table_close(&table);
}

/* A full table goes on counting the places it has, and says of others that it does not. */
static void a_table_has_a_limit(void **state)
{
    struct sample_table table = {0};

    (void)state;
    for (uint64_t i = 0; i < SAMPLE_TABLE_LIMIT; i++)
        assert_true(sample_table_add(&table, (uint32_t)(i % 3), i << 12, i % 5));
    assert_false(sample_table_add(&table, 1, 1, 1));
    assert_true(sample_table_add(&table, 0, 0, 0));
    assert_true(sample_table_add(&table, 1, 1 << 12, 1));
    assert_int_equal(table.count, SAMPLE_TABLE_LIMIT);
    assert_int_equal(table.taken, SAMPLE_TABLE_LIMIT + 2);
    assert_true(table.room >= 2 * table.count);
    sample_table_close(&table);
}

static void an_empty_table_has_no_entries(void **state)
{
    struct sample_table table = {0};
    struct samples_header header = {0};
    size_t size;
    unsigned char *bytes = sample_table_code(&table, &header, &size);

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(size, sizeof(header));
    assert_int_equal(header.entry_count, 0);
    free(bytes);
    sample_table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_counted_and_sorted),
        cmocka_unit_test(a_table_has_a_limit),
        cmocka_unit_test(an_empty_table_has_no_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
