#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "service/slices/slice_list.h"

#include <cmocka.h>

static void add(struct slice_list *list, uint64_t end, uint32_t function, int64_t self,
                uint64_t calls)
{
    struct slice_entry entries[] = {
        {2, function, self, 2 * self, calls}, {1, 7, -self, 0, 0}, {2, function, 1, 0, 0}};

    assert_true(slice_list_add(list, end, entries, 3));
}

/* The sum over all slices. */
static struct slice_entry sum_of(const struct slice_list *list, uint32_t thread, uint32_t function)
{
    struct slice_entry sum = {thread, function, 0, 0, 0};

    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = 0; j < list->parts[i].count; j++) {
            const struct slice_entry *entry = &list->parts[i].entries[j];
            if (entry->thread != thread || entry->function != function)
                continue;
            sum.self += entry->self;
            sum.total += entry->total;
            sum.calls += entry->calls;
        }
    }
    return sum;
}

static void entries_are_sorted_and_added_up(void **state)
{
    struct slice_list list;

    (void)state;
    assert_true(slice_list_open(&list, 4));
    add(&list, 100, 5, 10, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.parts[0].count, 2);
    assert_int_equal(list.parts[0].entries[0].thread, 1);
    assert_int_equal(list.parts[0].entries[1].self, 11);
    assert_int_equal(list.parts[0].entries[1].total, 20);
    slice_list_close(&list);
}

static void widths_double_and_nothing_is_lost(void **state)
{
    struct slice_list list;
    uint64_t before = 0;

    (void)state;
    assert_true(slice_list_open(&list, 5)); /* odd: the last one of a list has no partner */
    for (uint64_t i = 1; i <= 1000; i++) {
        add(&list, i * 10, 5, 4, i);
        assert_in_range(list.count, 1, 5);
        assert_int_equal(list.parts[list.count - 1].end_ticks, i * 10);
    }
    assert_true(list.doublings > 5);
    assert_int_equal(sum_of(&list, 2, 5).self, 5000);
    assert_int_equal(sum_of(&list, 2, 5).calls, 500500);
    assert_int_equal(sum_of(&list, 1, 7).self, -4000);
    for (size_t i = 0; i < list.count; i++) {
        assert_true(list.parts[i].end_ticks > before);
        before = list.parts[i].end_ticks;
    }
    slice_list_close(&list);
}

static uint64_t number(const unsigned char **at)
{
    uint64_t value = 0;
    unsigned shift = 0;

    do
        value |= (uint64_t)(**at & 0x7f) << shift;
    while (shift += 7, *(*at)++ & 0x80);
    return value;
}

static int64_t signed_number(const unsigned char **at)
{
    uint64_t coded = number(at);

    return (int64_t)(coded >> 1) ^ -(int64_t)(coded & 1);
}

static void code_is_as_drawn(void **state)
{
    struct slices_header header = {.pid = 42, .start_ticks = 5};
    struct slice_entry entries[] = {{3, 9, -300, INT64_MAX, 1}, {1, 200, 1, INT64_MIN, UINT64_MAX}};
    struct slice_list list;
    const unsigned char *at;
    unsigned char *bytes;
    struct slice slice;
    size_t size;

    (void)state;
    assert_true(slice_list_open(&list, 4));
    assert_true(slice_list_add(&list, 77, entries, 2));
    bytes = slice_list_code(&list, &header, &size);
    assert_memory_equal(bytes, SLICES_MAGIC, 8);
    assert_int_equal(header.slice_count, 1);
    memcpy(&slice, bytes + sizeof(header), sizeof(slice));
    at = bytes + sizeof(header) + sizeof(slice);
    assert_int_equal(slice.end_ticks, 77);
    assert_int_equal(slice.entry_count, 2);
    assert_ptr_equal(at + slice.size, bytes + size);
    assert_int_equal(number(&at), 1);
    assert_int_equal(signed_number(&at), 200);
    assert_int_equal(signed_number(&at), 1);
    assert_true(signed_number(&at) == INT64_MIN);
    assert_true(number(&at) == UINT64_MAX);
    assert_int_equal(number(&at), 2);
    assert_int_equal(signed_number(&at), -191);
    assert_int_equal(signed_number(&at), -300);
    assert_true(signed_number(&at) == INT64_MAX);
    assert_int_equal(number(&at), 1);
    assert_ptr_equal(at, bytes + size);
    free(bytes);
    slice_list_close(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_sorted_and_added_up),
        cmocka_unit_test(widths_double_and_nothing_is_lost),
        cmocka_unit_test(code_is_as_drawn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
