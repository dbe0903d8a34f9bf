/* Where blocks of copies begin, and what marks and counts them, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_sample.h"
#include "rewriter/copy/copy_ways.h"
#include "support/memory.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#include <cmocka.h>

/* --- whether blocks run --- */

#define MARK_SIZE 7
#define TEST_SIZE 13

/* An instruction with the byte of that block, and no other, and a number. */
static void assert_with_byte(const struct copied *copied, uint64_t at, const char *opcode,
                             uint8_t number, size_t block)
{
    uint64_t pages = HOOK - IMAGE_HOOK_IN_PAGE + IMAGE_HOOK_PAGE;

    assert_memory_equal(bytes_at(copied, at), opcode, 2);
    assert_int_equal(lead(copied, at, 6) + 1, pages + image_cover_place((uint32_t)block));
    assert_int_equal(*bytes_at(copied, at + 6), number);
}

/* mov byte [...], 1; or cmp byte [...], 0, and je to the same, which comes back. Returns its size.
 */
static size_t assert_mark(const struct copied *copied, uint64_t at, size_t block)
{
    uint64_t first;

    if (*bytes_at(copied, at) == 0xc6) {
        assert_with_byte(copied, at, "\xc6\x05", 1, block);
        return MARK_SIZE;
    }
    assert_with_byte(copied, at, "\x80\x3d", 0, block);
    assert_memory_equal(bytes_at(copied, at + MARK_SIZE), "\x0f\x84", 2);
    first = lead(copied, at + MARK_SIZE, 6);
    assert_with_byte(copied, first, "\xc6\x05", 1, block);
    assert_int_equal(*bytes_at(copied, first + MARK_SIZE), 0xe9);
    assert_int_equal(lead(copied, first + MARK_SIZE, 5), at + TEST_SIZE);
    return TEST_SIZE;
}

/* The block of that number begins at an offset of the original, and its copy with a mark; then
   there is what the original has, `same` bytes of it. */
static void assert_block(const struct copied *copied, size_t block, uint64_t offset, uint32_t size,
                         size_t same)
{
    uint64_t at = copy_at(copied, offset);

    assert_true(block < copied->set.block_count);
    assert_int_equal(copied->set.blocks[block].original, BASE + offset);
    assert_int_equal(copied->set.blocks[block].size, size);
    at += assert_mark(copied, at, block);
    assert_memory_equal(bytes_at(copied, at), copied->bytes + offset, same);
}

static void emit_marked(struct copied *copied)
{
    copied->plan.marks_blocks = true;
    copied_plan(copied);
    assert_doubt(copied, 0, FLOW_CERTAIN);
    copied_store(copied);
}

#define LOOPS "\xff\xcf\x31\xc0\x0f\xa2\x85\xff\x0f\x85\xf2\xff\xff\xff\xe3\xf6\xc3"

/* dec edi; xor eax, eax; cpuid; 6: test edi, edi; jne 0; 14: jrcxz 6; 16: ret */
static void test_blocks_begin_where_control_comes_from_elsewhere(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, LOOPS);
    emit_marked(&copied);
    assert_int_equal(copied.set.block_count, 4);
    assert_block(&copied, 0, 0, 6, 6);
    assert_block(&copied, 1, 6, 8, 4);
    assert_block(&copied, 2, 14, 2, 1);
    assert_block(&copied, 3, 16, 1, 1);
    assert_int_equal(lead(&copied, copy_at(&copied, 8), 6), copy_at(&copied, 0));
    assert_int_equal(copied.set.stretch_count, 4);
    copied_end(&copied);
}

/* The first block writes flags before anybody reads them, the last one may return with them. */
static void test_a_mark_keeps_flags(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, LOOPS);
    emit_marked(&copied);
    assert_int_equal(assert_mark(&copied, copy_at(&copied, 0), 0), TEST_SIZE);
    assert_int_equal(assert_mark(&copied, copy_at(&copied, 16), 3), MARK_SIZE);
    copied_end(&copied);
}

static void test_other_copies_have_no_marks(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, LOOPS);
    copied_plan(&copied);
    copied_store(&copied);
    assert_int_equal(copied.set.block_count, 0);
    assert_int_equal(copied.set.stretch_count, 0);
    assert_memory_equal(bytes_at(&copied, copy_at(&copied, 0)), LOOPS, 10);
    copied_end(&copied);
}

/* je skips one byte, whatever is there. */
static void test_no_mark_comes_before_a_lock_that_is_skipped(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    /* sub rsp, 8; test eax, eax; je 1f; lock; 1: cmpxchg [rcx], rbx; add rsp, 8; ret */
    ADD(&copied, 0, "\x48\x83\xec\x08\x85\xc0\x74\x01\xf0\x48\x0f\xb1\x19\x48\x83\xc4\x08\xc3");
    emit_marked(&copied);
    assert_int_equal(copied.set.block_count, 1);
    assert_block(&copied, 0, 0, 18, 18);
    copied_end(&copied);
}

static void test_a_call_ends_a_block(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    copied.slot.offset = 24;
    add_caller(&copied);
    ADD(&copied, 0x40, "\x31\xd2\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied.plan.counts_no_calls = true;
    emit_marked(&copied);
    assert_int_equal(copied.set.block_count, 3);
    assert_block(&copied, 0, 0, 9, 5);
    assert_block(&copied, 1, 9, 5, 5);
    assert_block(&copied, 2, 0x40, 9, 9);
    assert_branch_before(&copied, 9, 0xe8, copy_at(&copied, 0x40));
    assert_true(has_site(&copied, copy_at(&copied, 9), 9));
    copied_end(&copied);
}

static void test_padding_behind_a_jump_has_no_size(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    /* test edi, edi; je 8; cpuid; 6: jmp 16; 8: nop; ret; 10: nop [rax + 0]; int3; nop; 16: xor ...
     */
    ADD(&copied, 0,
        "\x85\xff\x74\x04\x0f\xa2\xeb\x08\x90\xc3\x0f\x1f\x40\x00\xcc\x90\x31\xc0\x31\xd2\xc3");
    emit_marked(&copied);
    assert_block(&copied, 0, 0, 4, 2);
    assert_block(&copied, 1, 4, 4, 2);
    assert_block(&copied, 2, 8, 2, 2);
    assert_block(&copied, 3, 10, 0, 4);
    assert_int_equal(copied.set.blocks[copied.set.block_count - 1].original, BASE + 16);
    assert_int_equal(copied.set.blocks[copied.set.block_count - 1].size, 5);
    copied_end(&copied);
}

static void test_a_landing_pad_begins_a_block(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied.source.pads = memory_zeroed(1, sizeof(*copied.source.pads));
    copied.source.pads[0] = BASE + 4;
    copied.source.pad_count = 1;
    emit_marked(&copied);
    assert_int_equal(copied.set.block_count, 2);
    assert_block(&copied, 0, 0, 4, 4);
    assert_block(&copied, 1, 4, 5, 5);
    copied_end(&copied);
}

/* Its entries lead to the marks, here by the table, and by trampolines where it is not written. */
static void test_what_tables_lead_to_is_marked(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    /* as in copy_emit_test.c; 23: mov al, 0; 25: mov al, 1; 27: mov al, 2; 29: mov al, 3; ... */
    ADD(&copied, 0,
        "\x90\x40\x0f\xb6\xff\x48\x8d\x15\xf4\x6f\x00\x00\x89\xff\x48\x63\x04\xba\x48\x01\xd0"
        "\xff\xe0\xb0\x00\xb0\x01\xb0\x02\xb0\x03\x31\xc0\x31\xd2\x31\xc9\x31\xf6\xc3");
    add_table(&copied, 23, 2);
    emit_marked(&copied);
    assert_int_equal(copied.plan.trampoline_count, 4);
    assert_int_equal(copied.set.block_count, 5);
    for (uint32_t i = 0; i < 4; i++)
        assert_mark(&copied, copy_at(&copied, 23 + 2 * i), i + 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(copied.set.blocks[i + 1].size, 2);
    copied_end(&copied);
}

/* --- how often blocks run --- */

static void emit_counted(struct copied *copied)
{
    copied->plan.counts_blocks = copied->plan.counts_no_calls = true;
    copied_plan(copied);
    assert_doubt(copied, 0, FLOW_CERTAIN);
    copied_store(copied);
}

static uint64_t place_of_word(size_t word)
{
    return HOOK - IMAGE_HOOK_IN_PAGE + IMAGE_HOOK_PAGE +
           image_cover_place((uint32_t)(word * sizeof(uint64_t)));
}

/* test edi, edi; je 8; cpuid; xor eax, eax; 8: xor eax, eax; xor edx, edx; ret */
static void test_blocks_whose_counts_follow_are_not_counted(void **state)
{
    struct copied copied;
    const struct copy_block *blocks;
    uint64_t at;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x85\xff\x74\x04\x0f\xa2\x31\xc0\x31\xc0\x31\xd2\xc3");
    emit_counted(&copied);
    blocks = copied.set.blocks;
    assert_int_equal(copied.set.block_count, 3);
    assert_int_equal(copied.set.counted, 2);
    assert_true(blocks[1].counts);
    assert_int_equal(blocks[0].from, COPY_GROUND);
    assert_int_equal(blocks[0].to, blocks[1].from);
    assert_int_equal(blocks[1].to, blocks[2].from);
    assert_int_equal(blocks[2].to, COPY_GROUND);
    assert_int_equal(blocks[1].size, 4);
    at = copy_at(&copied, 4);
    assert_memory_equal(bytes_at(&copied, at), "\x48\xff\x05", 3); /* inc qword */
    assert_int_equal(lead(&copied, at, 7), place_of_word(blocks[0].counts));
    assert_memory_equal(bytes_at(&copied, at + 7), copied.bytes + 4, 4);
    copied_end(&copied);
}

/* The first word's, then those of its lane. */
static void assert_in_lane(struct copied *copied, uint64_t at, const char *lea, const char *add,
                           const char *inc)
{
    uint32_t lane = FRAME_LANE_AT;

    assert_memory_equal(bytes_at(copied, at), lea, 3);
    assert_int_equal(lead(copied, at, 7), place_of_word(0));
    assert_memory_equal(bytes_at(copied, at + 7), add, 5);
    assert_memory_equal(bytes_at(copied, at + 12), &lane, sizeof(lane));
    assert_memory_equal(bytes_at(copied, at + 16), inc, 3);
}

static void test_threads_count_in_lanes(void **state)
{
    struct copied copied;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied.plan.has_lanes = true;
    emit_counted(&copied);
    assert_true(copied.set.has_lanes);
    /* lea r11, [...]; add r11, fs:[lane]; inc qword [r11] */
    assert_in_lane(&copied, copy_at(&copied, 0), "\x4c\x8d\x1d", "\x64\x4c\x03\x1c\x25",
                   "\x49\xff\x03");
    copied_end(&copied);
}

/* mov r11, fs:[lane]; inc qword [r11 + word] */
static void test_fixed_code_counts_in_lanes_by_addresses(void **state)
{
    struct copied copied;
    uint32_t word;
    uint64_t at;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3");
    copied.plan.has_lanes = copied.code.has_absolute_code = true;
    emit_counted(&copied);
    at = copy_at(&copied, 0);
    assert_memory_equal(bytes_at(&copied, at), "\x64\x4c\x8b\x1c\x25", 5);
    assert_memory_equal(bytes_at(&copied, at + 9), "\x49\xff\x83", 3);
    memcpy(&word, bytes_at(&copied, at + 12), sizeof(word));
    assert_int_equal(word, place_of_word(0));
    copied_end(&copied);
}

static void test_flags_that_are_alive_stay(void **state)
{
    struct copied copied;
    uint64_t at;

    (void)state;
    copied_begin(&copied);
    /* xor eax, eax; cpuid; nop; test edi, edi; 7: sete al; movzx esi, al; je 7; xor eax, eax; xor
     * edx, edx; ret */
    ADD(&copied, 0,
        "\x31\xc0\x0f\xa2\x90\x85\xff\x0f\x94\xc0\x0f\xb6\xf0\x74\xf8\x31\xc0\x31\xd2\xc3");
    emit_counted(&copied);
    assert_true(copied.set.blocks[1].counts);
    at = copy_at(&copied, 7);
    assert_int_equal(at, copy_at(&copied, 5) + 2);
    /* lea rsp, [rsp - 128]; pushf; inc qword [...]; popf */
    assert_int_equal(*bytes_at(&copied, at + 5), 0x9c);
    assert_memory_equal(bytes_at(&copied, at + 6), "\x48\xff\x05", 3);
    assert_int_equal(*bytes_at(&copied, at + 13), 0x9d);
    copied_end(&copied);
}

/* je over a `lock`, to which another jump leads: 5: test edi, edi; 7: je 10; 9: lock inc [rdi]; dec
 * esi; jne 9 */
static void test_nothing_stands_behind_a_jump_over_a_lock(void **state)
{
    struct copied copied;

    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        copied_begin(&copied);
        ADD(&copied, 0,
            "\x31\xc0\x0f\xa2\x90\x85\xff\x74\x01\xf0\xff\x07\xff\xce\x75\xf9\x31\xc0\xc3");
        copied.plan.marks_blocks = how == 0;
        copied.plan.counts_instructions = how == 1;
        copied.plan.has_lanes = how == 2;
        if (how == 2) {
            emit_counted(&copied);
        } else {
            copied_plan(&copied);
            assert_doubt(&copied, 0, FLOW_CERTAIN);
            copied_store(&copied);
        }
        assert_memory_equal(bytes_at(&copied, copy_at(&copied, 9) - 2), copied.bytes + 7, 5);
        copied_end(&copied);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_begin_where_control_comes_from_elsewhere),
        cmocka_unit_test(test_a_mark_keeps_flags),
        cmocka_unit_test(test_other_copies_have_no_marks),
        cmocka_unit_test(test_no_mark_comes_before_a_lock_that_is_skipped),
        cmocka_unit_test(test_a_call_ends_a_block),
        cmocka_unit_test(test_blocks_whose_counts_follow_are_not_counted),
        cmocka_unit_test(test_nothing_stands_behind_a_jump_over_a_lock),
        cmocka_unit_test(test_threads_count_in_lanes),
        cmocka_unit_test(test_fixed_code_counts_in_lanes_by_addresses),
        cmocka_unit_test(test_flags_that_are_alive_stay),
        cmocka_unit_test(test_padding_behind_a_jump_has_no_size),
        cmocka_unit_test(test_a_landing_pad_begins_a_block),
        cmocka_unit_test(test_what_tables_lead_to_is_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
