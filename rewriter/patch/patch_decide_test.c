/* Prologues, easy and hard, byte for byte, and what planning makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_classify.h"
#include "rewriter/code/code_discover.h"
#include "rewriter/patch/patch_decide.h"
#include "rewriter/patch/patch_plan.h"

#include <cmocka.h>

#define BASE 0x1000u
#define SIZE 256u

/* Nothing is known but at the first instruction. */
static void no_unwind_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

static struct return_slot no_unwind_slot_at(void *context, uint64_t address)
{
    (void)context;
    return (struct return_slot){
        .base = address == BASE ? RETURN_SLOT_RSP : RETURN_SLOT_UNKNOWN,
        .until = address + 1,
    };
}

struct planned {
    uint8_t bytes[SIZE];
    struct code_range range;
    struct code code;
    struct code_map map;
    struct function_list functions;
    struct patch_plan plan;
};

static void planned_begin(struct planned *planned, const char *bytes, size_t size)
{
    memset(planned, 0, sizeof(*planned));
    memset(planned->bytes, 0xf4, SIZE); /* hlt: no padding */
    memcpy(planned->bytes, bytes, size);
    planned->range = (struct code_range){BASE, planned->bytes, SIZE};
    planned->code = (struct code){
        .processor = &processor_x86_64,
        .ranges = &planned->range,
        .range_count = 1,
        .unwind = {NULL, no_unwind_begin, no_unwind_slot_at},
    };
    code_map_init(&planned->map, &planned->code);
}

static void add_function(struct planned *planned, uint64_t offset, uint64_t size)
{
    function_list_add(&planned->functions, (struct function){
                                               .address = BASE + offset,
                                               .end = BASE + offset + size,
                                               .evidence = EVIDENCE_SYMBOL | EVIDENCE_EXTENT,
                                           });
}

static void planned_run(struct planned *planned)
{
    function_list_settle(&planned->functions);
    code_discover(&planned->code, &planned->functions, &planned->map);
    code_classify(&planned->map, &planned->functions);
    planned->plan = (struct patch_plan){
        .code = &planned->code,
        .functions = &planned->functions,
        .map = &planned->map,
        .base = BASE,
        .end = BASE + 0x100000,
    };
    patch_decide(&planned->plan);
}

static void planned_end(struct planned *planned)
{
    patch_plan_free(&planned->plan);
    code_map_free(&planned->map);
    function_list_free(&planned->functions);
}

/* Plans one function of those bytes at BASE. */
static struct function plan_one(const char *bytes, size_t size)
{
    struct planned planned;
    struct function function;

    planned_begin(&planned, bytes, size);
    add_function(&planned, 0, size);
    planned_run(&planned);
    function = planned.functions.items[0];
    planned_end(&planned);
    return function;
}

#define PLAN(text) plan_one(text, sizeof(text) - 1)

static void assert_plan(struct function function, enum patch_reason reason, unsigned offset,
                        unsigned displaced, unsigned size)
{
    assert_string_equal(patch_reason_word(function.reason), patch_reason_word(reason));
    assert_int_equal(function.patch_offset, offset);
    assert_int_equal(function.displaced, displaced);
    assert_int_equal(function.patch_size, size);
}

static void assert_skipped(struct function function, enum patch_reason reason)
{
    assert_string_equal(patch_reason_word(function.reason), patch_reason_word(reason));
}

static void test_plain_prologue_moves_whole_instructions(void **state)
{
    (void)state;
    /* push rbp; mov rbp, rsp; sub rsp, 16; leave; ret */
    assert_plan(PLAN("\x55\x48\x89\xe5\x48\x83\xec\x10\xc9\xc3"), PATCH_PLAIN, 0, 8, 8);
}

static void test_endbr64_stays(void **state)
{
    (void)state;
    /* endbr64; sub rsp, 0x88; ret */
    assert_plan(PLAN("\xf3\x0f\x1e\xfa\x48\x81\xec\x88\x00\x00\x00\xc3"), PATCH_PLAIN, 4, 7, 7);
}

static void test_rip_relative_operand_is_adjusted(void **state)
{
    (void)state;
    /* mov rax, [rip + 0x10]; ret */
    assert_plan(PLAN("\x48\x8b\x05\x10\x00\x00\x00\xc3"), PATCH_ADJUSTED, 0, 7, 7);
}

static void test_branch_is_adjusted(void **state)
{
    (void)state;
    /* test edi, edi; je +4; xor eax, eax; ret; nop; ret */
    assert_plan(PLAN("\x85\xff\x74\x04\x31\xc0\xc3\x90\xc3"), PATCH_ADJUSTED, 0, 6, 6);
}

static void test_call_ending_the_patch_is_adjusted(void **state)
{
    (void)state;
    /* sub rsp, 8; call +0x20; add rsp, 8; ret */
    assert_plan(PLAN("\x48\x83\xec\x08\xe8\x20\x00\x00\x00\x48\x83\xc4\x08\xc3"), PATCH_ADJUSTED, 0,
                9, 9);
}

static void test_call_returning_into_the_patch_is_left_alone(void **state)
{
    (void)state;
    /* push rax; call rdi; pop rcx; ret */
    assert_skipped(PLAN("\x50\xff\xd7\x59\xc3\x90\x90\x90"), PATCH_CALL_IN_PATCH);
}

static void test_short_function_uses_padding(void **state)
{
    (void)state;
    /* xor eax, eax; ret; int3 x 5 */
    assert_plan(PLAN("\x31\xc0\xc3\xcc\xcc\xcc\xcc\xcc"), PATCH_PADDING, 0, 3, 5);
    /* ret; nop word [rax + rax] */
    assert_plan(PLAN("\xc3\x66\x0f\x1f\x44\x00\x00"), PATCH_PADDING, 0, 1, 7);
}

static void test_short_function_without_padding_is_left_alone(void **state)
{
    (void)state;
    assert_skipped(PLAN("\x31\xc0\xc3"), PATCH_TOO_SHORT);
}

static void test_padding_that_is_a_function_is_left_alone(void **state)
{
    struct planned planned;

    (void)state;
    /* ret; nop; nop (a function by its symbol); nop; nop; nop; ret */
    planned_begin(&planned, "\xc3\x90\x90\x90\x90\x90\xc3", 7);
    add_function(&planned, 0, 1);
    add_function(&planned, 2, 5);
    planned_run(&planned);
    assert_skipped(planned.functions.items[0], PATCH_TOO_SHORT);
    planned_end(&planned);
}

static void test_branch_into_the_patch_is_left_alone(void **state)
{
    (void)state;
    /* push rbx; 1: mov rbx, rdi; dec edi; jne 1b; pop rbx; ret */
    assert_skipped(PLAN("\x53\x48\x89\xfb\xff\xcf\x75\xf9\x5b\xc3"), PATCH_BRANCH_TARGET);
}

static void test_short_loop_to_the_entry_is_left_alone(void **state)
{
    (void)state;
    /* 1: sub rdi, 1; lea rax, [rdi + 1]; jne 1b; ret */
    assert_skipped(PLAN("\x48\x83\xef\x01\x48\x8d\x47\x01\x75\xf6\xc3"), PATCH_LOOP_AT_ENTRY);
}

static void test_long_loop_to_the_entry_goes_to_the_body(void **state)
{
    /* 1: sub rdi, 1; lea rax, [rdi + 1]; jne 1b (32 bits); ret */
    static const char bytes[] = "\x48\x83\xef\x01\x48\x8d\x47\x01\x0f\x85\xf2\xff\xff\xff\xc3";
    struct planned planned;

    (void)state;
    planned_begin(&planned, bytes, sizeof(bytes) - 1);
    add_function(&planned, 0, sizeof(bytes) - 1);
    planned_run(&planned);
    assert_plan(planned.functions.items[0], PATCH_PLAIN, 0, 8, 8);
    assert_int_equal(planned.plan.retarget_count, 1);
    assert_int_equal(planned.plan.retargets[0].field, BASE + 10);
    assert_int_equal(planned.plan.retargets[0].function, 0);
    planned_end(&planned);
}

/* xor eax, eax; 1: add eax, edi; jne 1b; ret */
#define TWO_BYTES_FREE "\x31\xc0\x01\xf8\x75\xfc\xc3"

static void test_short_jump_takes_padding_as_a_hole(void **state)
{
    static const char bytes[] = TWO_BYTES_FREE "\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xc3";
    struct planned planned;

    (void)state;
    planned_begin(&planned, bytes, sizeof(bytes) - 1);
    add_function(&planned, 0, 7);
    add_function(&planned, 16, 1);
    planned_run(&planned);
    assert_plan(planned.functions.items[0], PATCH_SHORT_JUMP, 0, 2, 2);
    assert_int_equal(planned.functions.items[0].hole, BASE + 7);
    assert_int_equal(planned.plan.hole_count, 1);
    planned_end(&planned);
}

static void test_short_jump_takes_a_hole_in_another_patch(void **state)
{
    /* then push rbp; mov rbp, rsp; sub rsp, 16; mov eax, 1; leave; ret */
    static const char bytes[] =
        TWO_BYTES_FREE "\x55\x48\x89\xe5\x48\x83\xec\x10\xb8\x01\x00\x00\x00\xc9\xc3";
    struct planned planned;

    (void)state;
    planned_begin(&planned, bytes, sizeof(bytes) - 1);
    add_function(&planned, 0, 7);
    add_function(&planned, 7, 15);
    planned_run(&planned);
    assert_plan(planned.functions.items[0], PATCH_SHORT_JUMP, 0, 2, 2);
    assert_plan(planned.functions.items[1], PATCH_PLAIN, 0, 13, 5);
    assert_int_equal(planned.functions.items[0].hole, BASE + 12);
    planned_end(&planned);
}

static void test_hole_is_used_once(void **state)
{
    /* twice, then room for one hole */
    static const char bytes[] = TWO_BYTES_FREE TWO_BYTES_FREE "\xcc\xcc\xcc\xcc\xcc\xcc\xc3";
    struct planned planned;

    (void)state;
    planned_begin(&planned, bytes, sizeof(bytes) - 1);
    add_function(&planned, 0, 7);
    add_function(&planned, 7, 7);
    add_function(&planned, 20, 1);
    planned_run(&planned);
    assert_plan(planned.functions.items[0], PATCH_SHORT_JUMP, 0, 2, 2);
    assert_skipped(planned.functions.items[1], PATCH_BRANCH_TARGET);
    planned_end(&planned);
}

static void test_padding_that_is_fallen_into_is_no_hole(void **state)
{
    /* xor eax, eax; nop x 6: the first function goes on in the second */
    static const char bytes[] = "\x31\xc0\x90\x90\x90\x90\x90\x90" TWO_BYTES_FREE;
    struct planned planned;

    (void)state;
    planned_begin(&planned, bytes, sizeof(bytes) - 1);
    add_function(&planned, 0, 2);
    add_function(&planned, 8, 7);
    planned_run(&planned);
    assert_skipped(planned.functions.items[1], PATCH_BRANCH_TARGET);
    planned_end(&planned);
}

static void test_short_loop_to_the_entry_goes_through_a_hole(void **state)
{
    /* 1: sub rdi, 1; lea rax, [rdi + 1]; jne 1b; ret; int3 x 5 */
    static const char bytes[] =
        "\x48\x83\xef\x01\x48\x8d\x47\x01\x75\xf6\xc3\xcc\xcc\xcc\xcc\xcc\xc3";
    struct planned planned;

    (void)state;
    planned_begin(&planned, bytes, sizeof(bytes) - 1);
    add_function(&planned, 0, 11);
    add_function(&planned, 16, 1);
    planned_run(&planned);
    assert_plan(planned.functions.items[0], PATCH_PLAIN, 0, 8, 8);
    assert_int_equal(planned.plan.retarget_count, 1);
    assert_int_equal(planned.plan.retargets[0].field, BASE + 9);
    assert_int_equal(planned.plan.retargets[0].hole, BASE + 11);
    planned_end(&planned);
}

static void test_loop_inside_the_patch_moves_along(void **state)
{
    (void)state;
    /* 1: dec edi; jne 1b; xor eax, eax; ret */
    assert_plan(PLAN("\xff\xcf\x75\xfc\x31\xc0\xc3"), PATCH_ADJUSTED, 0, 6, 6);
}

static void test_tail_call_between_functions_is_no_loop(void **state)
{
    struct planned planned;

    (void)state;
    /* sub rdi, 1; lea rax, [rdi]; ret, then at 16 another function: jmp -16 */
    planned_begin(&planned,
                  "\x48\x83\xef\x01\x48\x8d\x47\x00\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xeb\xee\xcc\xcc"
                  "\xcc\xcc",
                  22);
    add_function(&planned, 0, 9);
    add_function(&planned, 16, 2);
    planned_run(&planned);
    assert_plan(planned.functions.items[0], PATCH_PLAIN, 0, 8, 8);
    assert_plan(planned.functions.items[1], PATCH_PADDING, 0, 2, 5);
    planned_end(&planned);
}

static void test_reading_the_return_address_is_left_alone(void **state)
{
    (void)state;
    /* mov rax, [rsp]; ret */
    assert_skipped(PLAN("\x48\x8b\x04\x24\xc3\x90\x90\x90"), PATCH_RETURN_ADDRESS);
    /* pop rdx; jmp rdx */
    assert_skipped(PLAN("\x5a\xff\xe2\x90\x90\x90\x90"), PATCH_RETURN_ADDRESS);
}

static void test_transaction_is_unmovable(void **state)
{
    (void)state;
    /* xbegin +2; ret */
    assert_skipped(PLAN("\xc7\xf8\x02\x00\x00\x00\xc3\x90\x90"), PATCH_UNMOVABLE);
}

static void test_bytes_that_are_no_code(void **state)
{
    (void)state;
    assert_skipped(PLAN("\x06\x06\x06\x06\x06\x06"), PATCH_UNDECODABLE);
}

static void test_call_finds_a_function(void **state)
{
    struct planned planned;

    (void)state;
    /* call +11; ret, then at 16: mov eax, 1; ret */
    planned_begin(&planned,
                  "\xe8\x0b\x00\x00\x00\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xb8\x01\x00\x00"
                  "\x00\xc3",
                  22);
    add_function(&planned, 0, 6);
    planned_run(&planned);
    assert_int_equal(planned.functions.count, 2);
    assert_int_equal(planned.functions.items[1].address, BASE + 16);
    assert_skipped(planned.functions.items[1], PATCH_PLAIN);
    planned_end(&planned);
}

static void test_call_into_a_function_is_listed_only(void **state)
{
    struct planned planned;

    (void)state;
    /* call +6; nop x 6; ret (called); ret */
    planned_begin(&planned, "\xe8\x06\x00\x00\x00\x90\x90\x90\x90\x90\x90\xc3", 12);
    add_function(&planned, 0, 12);
    planned_run(&planned);
    assert_int_equal(planned.functions.count, 2);
    assert_skipped(planned.functions.items[1], PATCH_INSIDE_FUNCTION);
    planned_end(&planned);
}

static void test_conditional_jump_makes_a_fragment(void **state)
{
    struct planned planned;

    (void)state;
    /* test edi, edi; jne 32f; xor eax, eax; ret ... 32: ud2, known from unwind information */
    planned_begin(&planned, "\x85\xff\x0f\x85\x18\x00\x00\x00\x31\xc0\xc3", 11);
    memcpy(planned.bytes + 32, "\xb8\x01\x00\x00\x00\x0f\x0b", 7);
    add_function(&planned, 0, 11);
    add_function(&planned, 32, 7);
    planned.functions.items[1].evidence = EVIDENCE_UNWIND | EVIDENCE_EXTENT;
    planned_run(&planned);
    assert_skipped(planned.functions.items[1], PATCH_FRAGMENT);
    planned_end(&planned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_prologue_moves_whole_instructions),
        cmocka_unit_test(test_endbr64_stays),
        cmocka_unit_test(test_rip_relative_operand_is_adjusted),
        cmocka_unit_test(test_branch_is_adjusted),
        cmocka_unit_test(test_call_ending_the_patch_is_adjusted),
        cmocka_unit_test(test_call_returning_into_the_patch_is_left_alone),
        cmocka_unit_test(test_short_function_uses_padding),
        cmocka_unit_test(test_short_function_without_padding_is_left_alone),
        cmocka_unit_test(test_padding_that_is_a_function_is_left_alone),
        cmocka_unit_test(test_branch_into_the_patch_is_left_alone),
        cmocka_unit_test(test_short_loop_to_the_entry_is_left_alone),
        cmocka_unit_test(test_long_loop_to_the_entry_goes_to_the_body),
        cmocka_unit_test(test_short_jump_takes_padding_as_a_hole),
        cmocka_unit_test(test_short_jump_takes_a_hole_in_another_patch),
        cmocka_unit_test(test_hole_is_used_once),
        cmocka_unit_test(test_padding_that_is_fallen_into_is_no_hole),
        cmocka_unit_test(test_short_loop_to_the_entry_goes_through_a_hole),
        cmocka_unit_test(test_loop_inside_the_patch_moves_along),
        cmocka_unit_test(test_tail_call_between_functions_is_no_loop),
        cmocka_unit_test(test_reading_the_return_address_is_left_alone),
        cmocka_unit_test(test_transaction_is_unmovable),
        cmocka_unit_test(test_bytes_that_are_no_code),
        cmocka_unit_test(test_call_finds_a_function),
        cmocka_unit_test(test_call_into_a_function_is_listed_only),
        cmocka_unit_test(test_conditional_jump_makes_a_fragment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
