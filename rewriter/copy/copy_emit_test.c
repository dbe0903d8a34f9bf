/* Which of some functions are copied, and what their copies are, byte for byte. */
#include "rewriter/copy/copy_code.h"
#include "rewriter/copy/copy_sample.h"
#include "trace/copy_offsets.h"
#include "trace/image_offsets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_doubt(const struct copied *copied, size_t function, enum flow_doubt doubt)
{
    assert_string_equal(flow_doubt_word(copied->plan.doubts[function]), flow_doubt_word(doubt));
}

/* Where the copy of a function is entered, by calls of other copies. */
static uint64_t entry_of(const struct copied *copied, uint32_t function)
{
    const struct copy *copy = copy_set_of(&copied->set, function);

    return copy->address + copy->body - copy_entry_distance(&copied->functions.items[function]);
}

static bool has_site(const struct copied *copied, uint64_t copy, uint64_t original)
{
    for (size_t i = 0; i < copied->set.site_count; i++)
        if (copied->set.sites[i].copy == copy)
            return copied->set.sites[i].original == BASE + original;
    return false;
}

static uint64_t body_of(const struct copied *copied, size_t function)
{
    return STUBS + copied->functions.items[function].body;
}

/* What the stub leads to: the body, if nothing is recorded; else the entry, once the words are
   bound; else the rest of the stub. */
static void assert_outer_entry(const struct copied *copied, uint32_t function, uint64_t shared)
{
    uint64_t stub = STUBS + copied->functions.items[function].stub, outer = lead(copied, stub, 5);

    assert_int_equal(outer, copy_set_of(&copied->set, function)->address);
    assert_memory_equal(bytes_at(copied, outer), "\x48\x83\x3d", 3);
    assert_int_equal(lead(copied, outer, 7) + 1, WORD(hook));
    assert_memory_equal(bytes_at(copied, outer + 8), "\x74\x36\x48\x83\x3d", 5);
    assert_int_equal(lead(copied, outer + 10, 7) + 1, WORD(copies.on_entry));
    assert_memory_equal(bytes_at(copied, outer + 18), "\x75\x27\x48\x89\x4c\x24\xe8\xe9", 8);
    assert_int_equal(lead(copied, outer + 25, 5), stub + 5);
    assert_int_equal(lead(copied, outer + 20 + 0x27, 5), shared);
}

/* An entry, which calls that if something is recorded; copy_code.S has its instructions. */
static void assert_entry(const struct copied *copied, uint32_t function, uint64_t shared)
{
    uint64_t entry = entry_of(copied, function);
    uint64_t body = entry + copy_entry_distance(&copied->functions.items[function]);
    uint64_t key = entry - 17;

    assert_memory_equal(bytes_at(copied, entry), "\x48\x83\x3d", 3);
    assert_int_equal(lead(copied, entry, 7) + 1, WORD(hook));
    assert_memory_equal(bytes_at(copied, entry + 7), "\x00\x74\x05\xe8", 4);
    assert_int_equal(lead(copied, entry + 10, 5), shared);
    assert_int_equal(entry + 15, body);
    assert_int_equal(word_at(copied, key + COPY_HEADER), (uint32_t)(IMAGE - key));
    assert_int_equal(word_at(copied, key + COPY_INDEX) & ~STUB_LEAF, function);
    assert_int_equal(word_at(copied, key + COPY_BODY), body_of(copied, function) - key);
    assert_int_equal(key + (uint32_t)word_at(copied, key + COPY_START), body);
    assert_outer_entry(copied, function, shared);
    assert_int_equal(copy_at(copied, copied->functions.items[function].address - BASE), body);
}

/* What is shared, and counts: of a function, of a leaf. */
static uint64_t shared_entry(const struct copied *copied)
{
    return copied->set.shared;
}

static uint64_t shared_leaf(const struct copied *copied)
{
    return copied->set.shared + copy_front_of_leaf.holes[copy_front_of_leaf.hole_count - 1].value;
}

/* In place of `ret`: to what is shared if there may be frames. */
static void assert_exit(const struct copied *copied, uint64_t address)
{
    assert_memory_equal(bytes_at(copied, address), "\x48\x83\x3d", 3);
    assert_int_equal(lead(copied, address, 7) + 1, WORD(copies.thread));
    assert_memory_equal(bytes_at(copied, address + 7), "\x00\x0f\x85", 3);
    assert_int_equal(lead(copied, address + 10, 4),
                     copied->set.shared + copy_exit.holes[copy_exit.hole_count - 1].value);
    assert_int_equal(*bytes_at(copied, address + 14), 0xc3);
}

/* Behind a call: how far the function's slot is from that of what it calls. */
static void assert_mark(const struct copied *copied, uint64_t address, uint32_t distance)
{
    assert_int_equal(word_at(copied, address) & 0xffffff, MARK_NOP);
    assert_int_equal(word_at(copied, address + 3), distance);
}

/* An instruction of 6 bytes whose operand is that word. */
static void assert_hook(const struct copied *copied, uint64_t address, const char *opcode,
                        uint64_t hook)
{
    assert_memory_equal(bytes_at(copied, address), opcode, 2);
    assert_int_equal(lead(copied, address, 6), hook);
}

#define HOOK_CALL "\xff\x15"

/* sub rsp, 8; call 0x40; add rsp, 8; ret, and at 0x40 what does not count as a leaf */
static void add_caller(struct copied *copied)
{
    ADD(copied, 0, "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3");
}

static void test_call_of_a_copied_function(void **state)
{
    struct copied copied;
    uint64_t call;

    (void)state;
    copied_begin(&copied);
    copied.slot.offset = 24;
    add_caller(&copied);
    ADD(&copied, 0x40, "\x55\x48\x89\xe5\x0f\xa2\xe8\xf5\xff\xff\xff\x5d\xc3"); /* calls itself */
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    assert_entry(&copied, 0, shared_entry(&copied));
    assert_entry(&copied, 1, shared_entry(&copied));
    call = copy_at(&copied, 4);
    assert_int_equal(*bytes_at(&copied, call), 0xe8);
    assert_int_equal(lead(&copied, call, 5), entry_of(&copied, 1));
    assert_mark(&copied, call + 5, 16);
    assert_int_equal(copy_at(&copied, 9), call + 5 + MARK_NOP_SIZE);
    assert_true(has_site(&copied, call + 5, 9));
    assert_int_equal(lead(&copied, copy_at(&copied, 0x46), 5), entry_of(&copied, 1));
    assert_exit(&copied, copy_at(&copied, 13));
    assert_exit(&copied, copy_at(&copied, 0x4c));
    assert_int_equal(*bytes_at(&copied, body_of(&copied, 1)), 0xe9);
    assert_int_equal(lead(&copied, body_of(&copied, 1), 5), copy_at(&copied, 0x40));
    copied_end(&copied);
}

static void test_call_of_a_copied_leaf(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    add_caller(&copied);
    ADD(&copied, 0x40, "\x8d\x04\x37\x8d\x44\xc0\x08\xc3"); /* lea eax, [rdi + rsi]; ...; ret */
    copied_plan(&copied);
    assert_true(copied.functions.items[1].is_leaf);
    copied_store(&copied);
    assert_entry(&copied, 1, shared_leaf(&copied));
    assert_int_equal(lead(&copied, copy_at(&copied, 4), 5), entry_of(&copied, 1));
    assert_int_equal(*bytes_at(&copied, copy_at(&copied, 0x47)), 0xc3);
    copied_end(&copied);
}

static void test_leaf_that_another_function_goes_on_in(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\x31\xd2\x31\xc0\x31\xd2\xeb\x38"); /* ... jmp 0x42 */
    ADD(&copied, 0x40, "\x31\xd2\x31\xc0\x31\xc9\x31\xd2\xc3");
    copied_plan(&copied);
    assert_false(copied.functions.items[0].is_leaf);
    assert_true(copied.functions.items[1].is_leaf);
    copied_store(&copied);
    assert_entry(&copied, 1, shared_leaf(&copied));
    assert_int_equal(lead(&copied, copy_at(&copied, 8), 5), copy_at(&copied, 0x42));
    assert_exit(&copied, copy_at(&copied, 0x48));
    copied_end(&copied);
}

static void test_tail_calls(void **state)
{
    struct copied copied;
    uint64_t jump;

    (void)state;
    copied_begin(&copied);
    /* test edi, edi; je 0x40; inc edi; add edi, edi; jmp 0x40 */
    ADD(&copied, 0, "\x85\xff\x74\x3c\xff\xc7\x01\xff\xeb\x36");
    ADD(&copied, 0x40, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied_plan(&copied);
    copied_store(&copied);
    jump = copy_at(&copied, 2); /* jne over it */
    assert_memory_equal(bytes_at(&copied, jump), "\x0f\x85\x0b\0\0\0", 6);
    assert_int_equal(copy_at(&copied, 4), jump + 17);
    assert_hook(&copied, jump + 6, HOOK_CALL, WORD(copies.on_jump));
    assert_int_equal(*bytes_at(&copied, jump + 12), 0xe9);
    assert_int_equal(lead(&copied, jump + 12, 5), entry_of(&copied, 1));
    jump = copy_at(&copied, 8);
    assert_hook(&copied, jump, HOOK_CALL, WORD(copies.on_jump));
    assert_int_equal(*bytes_at(&copied, jump + 6), 0xe9);
    assert_int_equal(lead(&copied, jump + 6, 5), entry_of(&copied, 1));
    copied_end(&copied);
}

static void test_what_leaves_for_elsewhere(void **state)
{
    struct copied copied;
    uint64_t at;

    (void)state;
    copied_begin(&copied);
    /* call [rsp + rax * 8 + 0x100]; call [rip + 0x100]; nop; jmp [rip] */
    ADD(&copied, 0,
        "\xff\x94\xc4\x00\x01\x00\x00\xff\x15\x00\x01\x00\x00\x0f\x1f\x40\x00\x90\xff\x25\x00\x00"
        "\x00\x00");
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    copied_store(&copied);
    at = copy_at(&copied, 0);
    assert_memory_equal(bytes_at(&copied, at), "\xff\x94\xc4\x00\x01\x00\x00", 7);
    assert_true(has_site(&copied, at + 7, 7));
    assert_mark(&copied, at + 7, 8);
    at += 7 + MARK_NOP_SIZE;
    assert_int_equal(copy_at(&copied, 7), at);
    assert_memory_equal(bytes_at(&copied, at), "\xff\x15", 2);
    assert_int_equal(lead(&copied, at, 6), BASE + 13 + 0x100);
    assert_true(has_site(&copied, at + 6, 13));
    at = copy_at(&copied, 18);
    assert_hook(&copied, at, HOOK_CALL, WORD(copies.on_leave));
    assert_memory_equal(bytes_at(&copied, at + 6), "\xff\x25", 2);
    assert_int_equal(lead(&copied, at + 6, 6), BASE + 24);
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

static void test_the_slot_must_be_known_at_a_jump_out(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    copied.slot.base = RETURN_SLOT_UNKNOWN;
    add_caller(&copied);
    ADD(&copied, 0x40, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc3");
    ADD(&copied, 0x60, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xeb\xd6"); /* ... jmp 0x40 */
    copied_plan(&copied);
    assert_doubt(&copied, 0, FLOW_CERTAIN);
    assert_doubt(&copied, 1, FLOW_CERTAIN);
    assert_doubt(&copied, 2, FLOW_STACK);
    copied_end(&copied);
}

/* Entries of the table at TABLE: distances of places in the code, `step` bytes apart. */
static void add_table(struct copied *copied, uint64_t first, uint64_t step)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t distance = BASE + (uint32_t)(first + i * step) - TABLE;

        memcpy(copied->data + i * sizeof distance, &distance, sizeof distance);
    }
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

        memcpy(&distance, copied.data + i * sizeof distance, sizeof distance);
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
    memcpy(&distance, at + 1, sizeof distance);
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
        cmocka_unit_test(test_call_of_a_copied_leaf),
        cmocka_unit_test(test_leaf_that_another_function_goes_on_in),
        cmocka_unit_test(test_tail_calls),
        cmocka_unit_test(test_what_leaves_for_elsewhere),
        cmocka_unit_test(test_loop_to_the_first_instruction_is_no_call),
        cmocka_unit_test(test_parts_that_share_code_are_copied_together),
        cmocka_unit_test(test_entered_in_the_middle),
        cmocka_unit_test(test_the_slot_must_be_known_at_a_jump_out),
        cmocka_unit_test(test_a_table_that_is_proven_is_written),
        cmocka_unit_test(test_what_other_tables_lead_to_gets_trampolines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
