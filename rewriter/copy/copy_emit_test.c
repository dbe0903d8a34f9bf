/* Which of some functions are copied, and what their copies are, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_sample.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#include <cmocka.h>

static uint64_t body_of(const struct copied *copied, size_t function)
{
    return STUBS + copied->functions.items[function].body;
}

/* A function's copy: its key, then the first instruction, which the stub's body leads to. */
static void assert_key(const struct copied *copied, uint32_t function)
{
    const struct copy *copy = copy_set_of(&copied->set, function);
    uint64_t body = body_of(copied, function);
    struct frame_key key;

    memcpy(&key, bytes_at(copied, copy->address), sizeof(key));
    assert_int_equal(key.header, (int32_t)(IMAGE - copy->address));
    assert_int_equal(key.index & ~STUB_LEAF, function);
    assert_int_equal(key.body, (int32_t)(body - copy->address));
    assert_int_equal(key.key, frame_key_of(&copied->plan, function));
    assert_int_equal(copy->body, sizeof(key));
    assert_int_equal(copy_at(copied, copied->functions.items[function].address - BASE),
                     copy->address + copy->body);
    assert_int_equal(*bytes_at(copied, body) | *bytes_at(copied, body + 1) << 8, FRAME_BODY_JUMP);
    assert_int_equal(lead(copied, body, 6), copy->address + copy->body);
}

static void test_call_of_a_copied_function(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    copied.slot.offset = 24;
    add_caller(&copied);
    ADD(&copied, 0x40, "\x55\x48\x89\xe5\x0f\xa2\xe8\xf5\xff\xff\xff\x5d\xc3"); /* calls itself */
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    assert_key(&copied, 0);
    assert_key(&copied, 1);
    assert_branch_before(&copied, 9, 0xe8, copy_at(&copied, 0x40));
    assert_true(has_site(&copied, copy_at(&copied, 9), 9));
    assert_branch_before(&copied, 0x4b, 0xe8, copy_at(&copied, 0x40));
    assert_int_equal(copied.set.stretch_count, 2);
    assert_int_equal(copied.set.stretches[0].address, copy_at(&copied, 4));
    assert_int_equal(copied.set.stretches[0].address + copied.set.stretches[0].size,
                     copy_at(&copied, 9) - 5);
    assert_int_equal(*bytes_at(&copied, copy_at(&copied, 13)), 0xc3);
    copied_end(&copied);
}

/* The copy has je and what it skips side by side, as the original: je 1f; lock; 1: cmpxchg [rcx],
 * rbx. */
static void test_jump_over_a_lock_prefix(void **state)
{
    static const char skipping[] = "\x48\x83\xec\x08\x85\xc0\x74\x01\xf0\x48\x0f\xb1\x19"
                                   "\x48\x83\xc4\x08\xc3";
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, skipping);
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    assert_memory_equal(bytes_at(&copied, copy_at(&copied, 0)), skipping, sizeof(skipping) - 1);
    copied_end(&copied);
}

static void test_loop_to_the_first_instruction_is_no_call(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    /* dec edi; xor eax, eax; cpuid; test edi, edi; jne 0; jrcxz 6; ret */
    ADD(&copied, 0, "\xff\xcf\x31\xc0\x0f\xa2\x85\xff\x0f\x85\xf2\xff\xff\xff\xe3\xf6\xc3");
    copied_plan(&copied);
    copied_emit(&copied);
    assert_memory_equal(bytes_at(&copied, copy_at(&copied, 8)), "\x0f\x85", 2);
    assert_int_equal(lead(&copied, copy_at(&copied, 8), 6), copy_at(&copied, 0));
    assert_memory_equal(bytes_at(&copied, copy_at(&copied, 14)), "\xe3\x02\xeb\x05\xe9", 5);
    assert_int_equal(lead(&copied, copy_at(&copied, 14), 9), copy_at(&copied, 6));
    assert_int_equal(copy_at(&copied, 16), copy_at(&copied, 14) + 9);
    copied_end(&copied);
}

static void test_parts_that_share_code_are_copied_together(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xeb\x38"); /* ... jmp 0x42 */
    ADD(&copied, 0x40, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_emit(&copied);
    assert_int_equal(lead(&copied, copy_at(&copied, 8), 5), copy_at(&copied, 0x42));
    copied_end(&copied);

    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xeb\x38");
    ADD(&copied, 0x40, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc7\xf8\x00\x00\x00\x00\xc3"); /* xbegin */
    copied_plan(&copied);
    assert_doubt(&copied, 1, FLOW_UNMOVABLE);
    assert_doubt(&copied, 0, FLOW_FAMILY);
    copied_end(&copied);
}

static void test_entered_in_the_middle(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    add_caller(&copied);
    ADD(&copied, 0x38, "\x31\xc0\x31\xd2\x31\xd2\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied_plan(&copied);
    assert_doubt(&copied, 1, FLOW_ENTERED);
    assert_int_equal(copied.functions.items[2].reason, PATCH_INSIDE_FUNCTION);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_end(&copied);
}

static void test_the_slot_must_be_known_at_a_call_or_a_jump_out(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    copied.slot.base = RETURN_SLOT_UNKNOWN;
    add_caller(&copied);
    ADD(&copied, 0x40, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc3");
    ADD(&copied, 0x60, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xeb\xd6"); /* ... jmp 0x40 */
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_STACK);
    assert_doubt(&copied, 1, FLOW_CERTAIN);
    assert_doubt(&copied, 2, FLOW_STACK);
    copied_end(&copied);
}

static void test_a_table_that_is_proven_is_written(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    /* cmp edi, 3; ja 47; lea rdx, [table]; mov edi, edi; movsxd rax, [rdx + rdi * 4];
       add rax, rdx; jmp rax; 23: mov eax, 0; ret; 29: ... 47: xor eax, eax; ret */
    ADD(&copied, 0,
        "\x83\xff\x03\x77\x2a\x48\x8d\x15\xf4\x6f\x00\x00\x89\xff\x48\x63\x04\xba\x48\x01\xd0"
        "\xff\xe0\xb8\0\0\0\0\xc3\xb8\0\0\0\0\xc3\xb8\0\0\0\0\xc3\xb8\0\0\0\0\xc3\x31\xc0\xc3");
    add_table(&copied, 23, 6);
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    assert_int_equal(copied.plan.trampoline_count, 0);
    for (uint32_t i = 0; i < 4; i++) {
        int32_t distance;

        memcpy(&distance, copied.data + i * sizeof(distance), sizeof(distance));
        assert_int_equal(TABLE + (uint64_t)(int64_t)distance, copy_at(&copied, 23 + i * 6));
    }
    copied_end(&copied);
}

/* Where the jump at an offset of the original leads. */
static uint64_t original_leads(const struct copied *copied, uint64_t offset)
{
    const uint8_t *at = copied->bytes + offset;
    int32_t distance;

    if (*at == 0xeb)
        return original_leads(copied, offset + 2 + (uint64_t)(int8_t)at[1]);
    assert_int_equal(*at, 0xe9);
    memcpy(&distance, at + 1, sizeof(distance));
    return BASE + offset + 5 + (uint64_t)(int64_t)distance;
}

static void test_what_other_tables_lead_to_gets_trampolines(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    /* nop; movzx edi, dil; lea rdx, [table]; mov edi, edi; movsxd rax, [rdx + rdi * 4];
       add rax, rdx; jmp rax; 23: mov al, 0; ret; 26: ...; xor eax, eax; ... */
    ADD(&copied, 0,
        "\x90\x40\x0f\xb6\xff\x48\x8d\x15\xf4\x6f\x00\x00\x89\xff\x48\x63\x04\xba\x48\x01\xd0"
        "\xff\xe0\xb0\x00\xc3\xb0\x01\xc3\xb0\x02\xc3\xb0\x03\x31\xc0\x31\xd2\x31\xc9\x31\xf6\xc3");
    add_table(&copied, 23, 3);
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    assert_int_equal(copied.plan.word_count, 0);
    assert_int_equal(copied.plan.trampoline_count, 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(copied.bytes[23 + i * 3], i < 3 ? 0xeb : 0xe9);
        assert_int_equal(original_leads(&copied, 23 + i * 3), copy_at(&copied, 23 + i * 3));
    }
    copied_end(&copied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_of_a_copied_function),
        cmocka_unit_test(test_jump_over_a_lock_prefix),
        cmocka_unit_test(test_loop_to_the_first_instruction_is_no_call),
        cmocka_unit_test(test_parts_that_share_code_are_copied_together),
        cmocka_unit_test(test_entered_in_the_middle),
        cmocka_unit_test(test_the_slot_must_be_known_at_a_call_or_a_jump_out),
        cmocka_unit_test(test_a_table_that_is_proven_is_written),
        cmocka_unit_test(test_what_other_tables_lead_to_gets_trampolines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
