#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rewriter/code/code_leaf.h"

#include <cmocka.h>

#define START 0x1000

/* Whether code is a leaf, given as bytes: every instruction decoded in full. */
static bool is_leaf_step_by_step(const char *bytes, size_t size)
{
    struct leaf_check check = {.start = START, .end = START + size};
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder, &processor_x86_64);
    for (size_t offset = 0; offset < size; offset += at.length) {
        assert_true(instruction_decode(&decoder, START + offset, (const uint8_t *)bytes + offset,
                                       size - offset, &at));
        leaf_check_add(&check, &at);
    }
    return leaf_check_is_leaf(&check);
}

/* Whether bytes are a leaf by what sweeps call, also where there is room to look ahead: behind 16
   `inc eax`. */
static bool is_leaf_of(const char *bytes, size_t size)
{
    bool is_leaf = is_leaf_step_by_step(bytes, size);
    uint8_t longer[256];

    assert_int_equal(code_is_leaf(&processor_x86_64, START, START + size, (const uint8_t *)bytes),
                     is_leaf);
    memcpy(longer, bytes, size);
    memset(longer + size, 0xcc, sizeof(longer) - size);
    assert_int_equal(code_is_leaf(&processor_x86_64, START, START + sizeof(longer), longer),
                     is_leaf || (is_leaf_step_by_step((char *)longer, sizeof(longer))));
    return is_leaf;
}

#define IS_LEAF(bytes) is_leaf_of(bytes, sizeof(bytes) - 1)

static void straight_code_and_forward_branches_are_a_leaf(void **state)
{
    (void)state;
    assert_true(IS_LEAF("\x8d\x47\x01\xc3"));                 /* lea; ret */
    assert_true(IS_LEAF("\x85\xff\x74\x03\x31\xc0\xc3\xc3")); /* test; je +3; xor; ret; ret */
    assert_true(IS_LEAF("\xc3\x66\x90\xcc"));                 /* ret; padding */
    assert_true(IS_LEAF("\xa4\xc3"));                         /* movsb, once; ret */
}

static void calls_loops_and_jumps_out_are_none(void **state)
{
    (void)state;
    assert_false(IS_LEAF("\xe8\x10\x00\x00\x00\xc3")); /* call */
    assert_false(IS_LEAF("\xff\xd0\xc3"));             /* call rax */
    assert_false(IS_LEAF("\xff\xe0"));                 /* jmp rax */
    assert_false(IS_LEAF("\xff\xc8\x75\xfc\xc3"));     /* dec eax; jne to it; ret */
    assert_false(IS_LEAF("\xe2\xfe\xc3"));             /* loop to itself */
    assert_false(IS_LEAF("\x74\x20\xc3"));             /* je out */
    assert_false(IS_LEAF("\xeb\x20"));                 /* jmp out: a tail call */
    assert_false(IS_LEAF("\x8d\x47\x01"));             /* goes on to what follows */
}

static void what_may_take_long_is_none(void **state)
{
    (void)state;
    assert_false(IS_LEAF("\xf3\xa4\xc3")); /* rep movsb */
    assert_false(IS_LEAF("\xf2\xae\xc3")); /* repne scasb */
    assert_false(IS_LEAF("\x0f\x05\xc3")); /* syscall */
    assert_false(IS_LEAF("\xf3\x90\xc3")); /* pause */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_and_forward_branches_are_a_leaf),
        cmocka_unit_test(calls_loops_and_jumps_out_are_none),
        cmocka_unit_test(what_may_take_long_is_none),
    };

    return cmocka_run_group_tests_name("leaves", tests, NULL, NULL);
}
