/* Instructions of 32 bits, where they differ from those of 64. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/code/code_leaf.h"
#include "rewriter/code/decode.h"

#include <cmocka.h>

#define START 0x8049000u

static struct instruction decode(const struct processor *processor, const char *bytes, size_t size)
{
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder, processor);
    assert_true(instruction_decode(&decoder, START, (const uint8_t *)bytes, size, &at));
    assert_int_equal(at.length, size);
    return at;
}

#define DECODE(bytes) decode(&processor_i386, bytes, sizeof(bytes) - 1)

static void test_an_operand_without_register_is_an_address(void **state)
{
    (void)state;
    assert_false(DECODE("\x8b\x0d\x80\x00\x00\x20").is_rip_based); /* mov ecx, [0x20000080] */
    assert_false(DECODE("\xff\x25\x80\x00\x00\x20").is_rip_based); /* jmp [0x20000080] */
}

static void test_short_increments_are_no_prefixes(void **state)
{
    (void)state;
    assert_int_equal(DECODE("\x40").flow, FLOW_NEXT); /* inc eax */
    assert_int_equal(DECODE("\x4f").flow, FLOW_NEXT); /* dec edi */
    assert_int_equal(DECODE("\x60").flow, FLOW_NEXT); /* pusha */
}

static void test_branches(void **state)
{
    struct instruction at;

    (void)state;
    at = DECODE("\xe8\x00\x00\x00\x00");
    assert_int_equal(at.flow, FLOW_CALL);
    assert_int_equal(at.target, START + 5);
    at = DECODE("\xe9\xfb\xff\xff\xf7"); /* around the end of 4 GB */
    assert_int_equal(at.flow, FLOW_JUMP);
    assert_int_equal(at.target, START + 0xf8000000u);
    assert_int_equal(DECODE("\xe3\x05").flow, FLOW_LOOP);     /* jecxz */
    assert_int_equal(DECODE("\x67\xe3\x05").flow, FLOW_LOOP); /* jcxz */
    assert_int_equal(DECODE("\xc2\x04\x00").flow, FLOW_END);  /* ret 4 */
    assert_int_equal(DECODE("\x66\xe9\x05\x00").flow, FLOW_UNKNOWN);
    assert_int_equal(DECODE("\x9a\x00\x00\x00\x00\x23\x00").flow, FLOW_UNKNOWN);
    assert_int_equal(DECODE("\xea\x00\x00\x00\x00\x23\x00").flow, FLOW_UNKNOWN);
}

static void assert_padding(const char *bytes, size_t size, bool is_padding)
{
    struct instruction at = decode(&processor_i386, bytes, size);

    if (instruction_is_padding(&at) != is_padding)
        fail_msg("%02x %02x of %zu bytes", (uint8_t)bytes[0], size > 1 ? (uint8_t)bytes[1] : 0u,
                 size);
}

#define IS_PADDING(bytes)  assert_padding(bytes, sizeof(bytes) - 1, true)
#define NOT_PADDING(bytes) assert_padding(bytes, sizeof(bytes) - 1, false)

static void test_padding(void **state)
{
    struct instruction at;

    (void)state;
    IS_PADDING("\x90");
    IS_PADDING("\xcc");
    IS_PADDING("\x66\x90");             /* xchg ax, ax */
    IS_PADDING("\x0f\x1f\x44\x00\x00"); /* nop */
    IS_PADDING("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00");
    IS_PADDING("\x89\xf6");         /* mov esi, esi */
    IS_PADDING("\x8b\xff");         /* mov edi, edi */
    IS_PADDING("\x8d\x76\x00");     /* lea esi, [esi + 0] */
    IS_PADDING("\x8d\x74\x26\x00"); /* the same with SIB */
    IS_PADDING("\x2e\x8d\x74\x26\x00");
    IS_PADDING("\x8d\xb6\x00\x00\x00\x00"); /* with 32 bits */
    IS_PADDING("\x8d\xb4\x26\x00\x00\x00\x00");
    IS_PADDING("\x8d\xbc\x27\x00\x00\x00\x00");    /* lea edi, [edi + 0] */
    NOT_PADDING("\x89\xfe");                       /* mov esi, edi */
    NOT_PADDING("\x66\x89\xf6");                   /* mov si, si */
    NOT_PADDING("\x8d\x76\x01");                   /* lea esi, [esi + 1] */
    NOT_PADDING("\x8d\x77\x00");                   /* lea esi, [edi] */
    NOT_PADDING("\x8d\x2d\x00\x00\x00\x00");       /* lea ebp, [0] */
    NOT_PADDING("\x8d\x34\x36");                   /* lea esi, [esi + esi] */
    NOT_PADDING("\x8d\x2c\x25\x00\x00\x00\x00");   /* lea ebp, [0], with SIB */
    at = decode(&processor_x86_64, "\x89\xff", 2); /* clears half of rdi */
    assert_false(instruction_is_padding(&at));
}

static void test_landings(void **state)
{
    struct instruction at;

    (void)state;
    at = DECODE("\xf3\x0f\x1e\xfb");
    assert_true(instruction_is_landing(&at)); /* endbr32 */
    at = DECODE("\xf3\x0f\x1e\xfa");
    assert_false(instruction_is_landing(&at)); /* endbr64 */
    at = decode(&processor_x86_64, "\xf3\x0f\x1e\xfa", 4);
    assert_true(instruction_is_landing(&at));
}

#define IS_PC_THUNK(bytes) processor_i386.is_pc_thunk((const uint8_t *)(bytes), sizeof(bytes) - 1)

static void test_pc_thunks(void **state)
{
    (void)state;
    assert_true(IS_PC_THUNK("\x8b\x04\x24\xc3")); /* mov eax, [esp]; ret */
    assert_true(IS_PC_THUNK("\x8b\x1c\x24\xc3")); /* mov ebx, [esp]; ret */
    assert_true(IS_PC_THUNK("\x8b\x2c\x24\xc3")); /* mov ebp, [esp]; ret */
    assert_false(IS_PC_THUNK("\x8b\x1c\x24\x90"));
    assert_false(IS_PC_THUNK("\x8b\x1b\x24\xc3"));
    assert_false(IS_PC_THUNK("\x8b\x24\x24\xc3")); /* mov esp, [esp]; ret */
    assert_false(IS_PC_THUNK("\x8b\x1c\x24"));
}

static bool is_leaf(const char *bytes, size_t size)
{
    return code_is_leaf(&processor_i386, START, START + size, (const uint8_t *)bytes);
}

#define IS_LEAF(bytes) is_leaf(bytes, sizeof(bytes) - 1)

static void test_leaves(void **state)
{
    (void)state;
    assert_true(IS_LEAF("\x8b\x44\x24\x04\x40\xc3"));         /* mov eax, [esp + 4]; inc; ret */
    assert_true(IS_LEAF("\x31\xc0\xc2\x04\x00\x8d\x76\x00")); /* xor; ret 4; lea esi, [esi] */
    assert_true(IS_LEAF("\x85\xc0\x74\x01\x48\xc3"));         /* test; je 1f; dec; 1: ret */
    assert_false(IS_LEAF("\x48\x75\xfd\xc3"));                /* 1: dec; jne 1b; ret */
    assert_false(IS_LEAF("\xe8\x00\x00\x00\x00\x58\xc3"));    /* call +0; pop; ret */
    assert_false(IS_LEAF("\xcd\x80\xc3"));                    /* int 0x80; ret */
    assert_false(IS_LEAF("\xf3\xa4\xc3"));                    /* rep movsb; ret */
    assert_false(IS_LEAF("\xea\x00\x00\x00\x00\x23\x00"));    /* jmp 0x23:0 */
}

static void test_what_may_fault(void **state)
{
    struct instruction at;

    (void)state;
    at = DECODE("\x8b\x44\x24\x04"); /* mov eax, [esp + 4] */
    assert_false(instruction_may_fault(&at));
    at = DECODE("\xa1\x80\x00\x00\x20"); /* mov eax, [0x20000080] */
    assert_true(instruction_may_fault(&at));
    at = DECODE("\x8b\x0d\x80\x00\x00\x20"); /* mov ecx, [0x20000080] */
    assert_true(instruction_may_fault(&at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_operand_without_register_is_an_address),
        cmocka_unit_test(test_short_increments_are_no_prefixes),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_landings),
        cmocka_unit_test(test_pc_thunks),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_what_may_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
