/* Functions put together by hand, and which system calls they are known to make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow_syscalls.h"

#include <cmocka.h>

#define START 0x1000u

/* The number of the `syscall` that is the last one in there. */
static int32_t number_in(const char *bytes, size_t size)
{
    uint8_t copy[256];
    struct code_range text = {START, copy, size};
    struct code code = {.processor = &processor_x86_64, .ranges = &text, .range_count = 1};
    struct function function = {.address = START, .end = START + size, .reason = PATCH_PLAIN};
    struct function_list functions = {.items = &function, .count = 1};
    const struct flow_source source = {.code = &code, .functions = &functions};
    struct flow_syscalls syscalls = {0};
    int32_t number;
    size_t at = size;

    assert_true(size <= sizeof(copy));
    memcpy(copy, bytes, size);
    while (at-- && memcmp(copy + at, "\x0f\x05", 2) != 0)
        continue;
    flow_syscalls_read(&syscalls, &source, &function);
    number = flow_syscalls_number(&syscalls, START + at);
    flow_syscalls_free(&syscalls);
    return number;
}

#define NUMBER_IN(bytes) number_in(bytes, sizeof(bytes) - 1)

#define MOV_EAX_257 "\xb8\x01\x01\x00\x00"
#define MOV_EAX_2   "\xb8\x02\x00\x00\x00"
#define XOR_EAX     "\x31\xc0"
#define MOV_EDI_EBX "\x89\xdf"
#define SYSCALL     "\x0f\x05"
#define RET         "\xc3"

static void the_number_is_loaded_in_front(void **state)
{
    (void)state;
    assert_int_equal(NUMBER_IN(MOV_EAX_257 SYSCALL RET), 257);
    assert_int_equal(NUMBER_IN(XOR_EAX SYSCALL RET), 0);
    assert_int_equal(NUMBER_IN("\x48\xc7\xc0\x3b\x00\x00\x00" SYSCALL RET), 59); /* mov rax, 59 */
    /* the last of several */
    assert_int_equal(NUMBER_IN(MOV_EAX_2 MOV_EAX_257 SYSCALL RET), 257);
    assert_int_equal(NUMBER_IN(MOV_EAX_2 SYSCALL MOV_EAX_257 SYSCALL RET), 257);
}

static void others_may_stand_between(void **state)
{
    (void)state;
    assert_int_equal(NUMBER_IN(MOV_EAX_257 MOV_EDI_EBX "\x45\x31\xd2" SYSCALL RET), 257);
    /* a number that is part of another instruction: mov esi, 2; in ecx is another */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\xbe\xb8\x02\x00\x00\xb9\x05\x00\x00\x00" SYSCALL RET),
                     257);
    /* jz behind the call */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\x74\x02" SYSCALL RET), 257);
}

static void what_writes_rax_makes_it_unknown(void **state)
{
    (void)state;
    assert_int_equal(NUMBER_IN("\x48\x89\xf8" SYSCALL RET), SYSCALL_UNKNOWN); /* mov rax, rdi */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\x89\xd8" SYSCALL RET), SYSCALL_UNKNOWN);
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\xb0\x02" SYSCALL RET), SYSCALL_UNKNOWN); /* mov al */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\x58" SYSCALL RET), SYSCALL_UNKNOWN);     /* pop rax */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\x0f\xa2" SYSCALL RET), SYSCALL_UNKNOWN); /* cpuid */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 "\xff\xd3" SYSCALL RET), SYSCALL_UNKNOWN); /* call rbx */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 SYSCALL SYSCALL RET), SYSCALL_UNKNOWN);
    assert_int_equal(NUMBER_IN(SYSCALL RET), SYSCALL_UNKNOWN);
}

/* Two ways lead to one call, each with its number. */
static void what_another_way_leads_to_is_unknown(void **state)
{
    (void)state;
    /* jz to the number is one way to it; to what is behind that, it is another way to the call */
    assert_int_equal(NUMBER_IN("\x74\x00" MOV_EAX_257 SYSCALL RET), 257);
    assert_int_equal(NUMBER_IN("\x74\x05" MOV_EAX_257 SYSCALL RET), SYSCALL_UNKNOWN);
    assert_int_equal(NUMBER_IN("\x74\x05" MOV_EAX_257 MOV_EDI_EBX SYSCALL RET), SYSCALL_UNKNOWN);
    /* from behind */
    assert_int_equal(NUMBER_IN(MOV_EAX_257 SYSCALL RET MOV_EAX_2 "\xeb\xf6"), SYSCALL_UNKNOWN);
    /* what stands in front has jumped away */
    assert_int_equal(NUMBER_IN("\x74\x07" MOV_EAX_257 "\xeb\x00" SYSCALL RET), SYSCALL_UNKNOWN);
}

static void a_number_far_away_is_not_looked_for(void **state)
{
    char bytes[80] = MOV_EAX_257;
    size_t size = sizeof(MOV_EAX_257) - 1;

    (void)state;
    for (int i = 0; i < 31; i++, size += 2)
        memcpy(bytes + size, MOV_EDI_EBX, 2);
    memcpy(bytes + size, SYSCALL RET, 3);
    assert_int_equal(number_in(bytes, size + 3), 257);
    memcpy(bytes + size, MOV_EDI_EBX SYSCALL RET, 5);
    assert_int_equal(number_in(bytes, size + 5), SYSCALL_UNKNOWN);
}

static void what_cannot_be_decoded_has_none(void **state)
{
    (void)state;
    assert_int_equal(NUMBER_IN("\x06" MOV_EAX_257 SYSCALL RET), SYSCALL_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_is_loaded_in_front),
        cmocka_unit_test(others_may_stand_between),
        cmocka_unit_test(what_writes_rax_makes_it_unknown),
        cmocka_unit_test(what_another_way_leads_to_is_unknown),
        cmocka_unit_test(a_number_far_away_is_not_looked_for),
        cmocka_unit_test(what_cannot_be_decoded_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
