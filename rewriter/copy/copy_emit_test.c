/* Which of some functions are copied, and what their copies are, byte for byte. */
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

static void assert_doubt(const struct copied *copied, size_t function, enum flow_doubt doubt)
{
    assert_string_equal(flow_doubt_word(copied->plan.doubts[function]), flow_doubt_word(doubt));
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

/* The branch of 5 bytes behind which the instruction at `next` of the original is in its copy. */
static void assert_branch_before(const struct copied *copied, uint64_t next, uint8_t opcode,
                                 uint64_t target)
{
    uint64_t at = copy_at(copied, next) - 5;

    assert_int_equal(*bytes_at(copied, at), opcode);
    assert_int_equal(lead(copied, at, 5), target);
}

/* sub rsp, 8; call 0x40; add rsp, 8; ret, and at 0x40 what does not count as a leaf */
static void add_caller(struct copied *copied)
{
    ADD(copied, 0, "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3");
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

/* Entries of the table at TABLE: distances of places in the code, `step` bytes apart. */
static void add_table(struct copied *copied, uint64_t first, uint64_t step)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t distance = BASE + (uint32_t)(first + i * step) - TABLE;

        memcpy(copied->data + i * sizeof(distance), &distance, sizeof(distance));
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

/* --- blocks --- */

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
    /* as above; 23: mov al, 0; 25: mov al, 1; 27: mov al, 2; 29: mov al, 3; ... */
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
        cmocka_unit_test(test_call_of_a_copied_function),
        cmocka_unit_test(test_jump_over_a_lock_prefix),
        cmocka_unit_test(test_tail_calls),
        cmocka_unit_test(test_what_leaves_for_elsewhere),
        cmocka_unit_test(test_loop_to_the_first_instruction_is_no_call),
        cmocka_unit_test(test_parts_that_share_code_are_copied_together),
        cmocka_unit_test(test_entered_in_the_middle),
        cmocka_unit_test(test_the_slot_must_be_known_at_a_call_or_a_jump_out),
        cmocka_unit_test(test_a_table_that_is_proven_is_written),
        cmocka_unit_test(test_what_other_tables_lead_to_gets_trampolines),
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
        cmocka_unit_test(test_nothing_stands_before_a_call_that_is_not_counted),
        cmocka_unit_test(test_a_call_through_a_slot_goes_to_the_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
