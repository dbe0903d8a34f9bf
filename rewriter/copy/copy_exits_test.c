/* Calls and jumps that leave a copy, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_sample.h"
#include "support/memory.h"

#include <cmocka.h>

static void test_tail_calls(void **state)
{
    struct copied copied;
    const struct copy *copy;
    uint64_t jump;

    (void)state;
    copied_begin(&copied);
    /* test edi, edi; je 0x40; inc edi; add edi, edi; jmp 0x40 */
    ADD(&copied, 0, "\x85\xff\x74\x3c\xff\xc7\x01\xff\xeb\x36");
    ADD(&copied, 0x40, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied_plan(&copied);
    copied_store(&copied);
    jump = copy_at(&copied, 2); /* jne over it */
    assert_memory_equal(bytes_at(&copied, jump), "\x0f\x85", 2);
    assert_int_equal(lead(&copied, jump, 6), copy_at(&copied, 4));
    assert_branch_before(&copied, 4, 0xe9, copy_at(&copied, 0x40));
    copy = copy_set_of(&copied.set, 0);
    jump = copy->address + copy->size - 5;
    assert_int_equal(*bytes_at(&copied, jump), 0xe9);
    assert_int_equal(lead(&copied, jump, 5), copy_at(&copied, 0x40));
    copied_end(&copied);
}

static void test_what_leaves_for_elsewhere(void **state)
{
    struct copied copied;
    uint64_t next;

    (void)state;
    copied_begin(&copied);
    /* call [rsp + rax * 8 + 0x100]; call [rip + 0x100]; nop; jmp [rip] */
    ADD(&copied, 0,
        "\xff\x94\xc4\x00\x01\x00\x00\xff\x15\x00\x01\x00\x00\x0f\x1f\x40\x00\x90\xff\x25\x00\x00"
        "\x00\x00");
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    next = copy_at(&copied, 7);
    assert_true(has_site(&copied, next, 7));
    next = copy_at(&copied, 13);
    assert_true(has_site(&copied, next, 13));
    copied_end(&copied);
}

/* --- no calls counted --- */

#define SLOT (TABLE + 8)

/* Code at 0 that calls the function at 0x40, and is not to count it. */
static void begin_uncounted(struct copied *copied, const char *code, size_t size)
{
    copied_begin(copied);
    copied->slot.offset = 24;
    copied->plan.counts_no_calls = true;
    copied_add(copied, 0, code, size);
    ADD(copied, 0x40, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc3");
    memcpy(copied->bytes + 0x80, "\xff\x25\x82\x6f\x00\x00\x0f\x1f", 8); /* jmp [SLOT] */
    copied->source.imports = memory_zeroed(1, sizeof(*copied->source.imports));
    copied->source.imports[0] = (struct flow_import){.slot = SLOT, .target = BASE + 0x40};
    copied->source.import_count = 1;
    copied_plan(copied);
    assert_doubt(copied, 0, FLOW_CERTAIN);
    copied_store(copied);
    assert_int_equal(copied->set.stretch_count, 0);
}

static void test_nothing_stands_before_a_call_that_is_not_counted(void **state)
{
    struct copied copied;

    (void)state;
    begin_uncounted(&copied, "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3", 14);
    assert_int_equal(copy_at(&copied, 9), copy_at(&copied, 4) + 5);
    assert_branch_before(&copied, 9, 0xe8, copy_at(&copied, 0x40));
    copied_end(&copied);
}

/* By the linker's stub, or by the slot itself: to the copy, if the loader has bound it to this one.
 */
static void test_a_call_through_a_slot_goes_to_the_copy(void **state)
{
    static const struct {
        const char *code;
        size_t size, next;
    } calls[] = {
        {"\x48\x83\xec\x08\xe8\x77\x00\x00\x00\x48\x83\xc4\x08\xc3", 14, 9},
        {"\x48\x83\xec\x08\xff\x15\xfe\x6f\x00\x00\x48\x83\xc4\x08\xc3", 15, 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        struct copied copied;
        uint64_t at;

        begin_uncounted(&copied, calls[i].code, calls[i].size);
        at = copy_at(&copied, 4);
        assert_memory_equal(bytes_at(&copied, at), "\x4c\x8d\x1d", 3); /* lea r11, [function] */
        assert_int_equal(lead(&copied, at, 7), BASE + 0x40);
        assert_memory_equal(bytes_at(&copied, at + 7), "\x4c\x3b\x1d", 3); /* cmp r11, [slot] */
        assert_int_equal(lead(&copied, at + 7, 7), SLOT);
        assert_memory_equal(bytes_at(&copied, at + 14), "\x4c\x8d\x1d", 3); /* lea r11, [copy] */
        assert_int_equal(lead(&copied, at + 14, 7), copy_at(&copied, 0x40));
        assert_memory_equal(bytes_at(&copied, at + 21), "\x4c\x0f\x45\x1d", 4); /* cmovne */
        assert_int_equal(lead(&copied, at + 21, 8), SLOT);
        assert_memory_equal(bytes_at(&copied, at + 29), "\x41\xff\xd3", 3); /* call r11 */
        assert_int_equal(copy_at(&copied, calls[i].next), at + 32);
        copied_end(&copied);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tail_calls),
        cmocka_unit_test(test_what_leaves_for_elsewhere),
        cmocka_unit_test(test_nothing_stands_before_a_call_that_is_not_counted),
        cmocka_unit_test(test_a_call_through_a_slot_goes_to_the_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
