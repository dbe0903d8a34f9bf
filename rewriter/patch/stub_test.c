/* Displaced instructions, run at their new place: they must do what they did at the old one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rewriter/patch/stub.h"

#include <cmocka.h>

#define PLACE_SIZE 65536u
#define STUBS_AT   32768u

/*
 * A page of code with a function at 0, which calls or reads what lies behind it:
 *
 *      0     the function
 *      64    mov rax, [rsp]; ret       gives the address it returns to
 *      128   the number 42
 *      136   a pointer to 64
 *      32768 stubs
 */
struct place {
    uint8_t *bytes;
    struct stub_segment stubs;
};

static void place_begin(struct place *place, const char *code, size_t size)
{
    uint64_t number = 42, pointer;

    place->bytes =
        mmap(NULL, PLACE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(place->bytes != MAP_FAILED);
    memset(place->bytes, 0xf4, PLACE_SIZE);
    memcpy(place->bytes, code, size);
    memcpy(place->bytes + 64, "\x48\x8b\x04\x24\xc3", 5);
    memcpy(place->bytes + 128, &number, sizeof(number));
    pointer = (uint64_t)(uintptr_t)place->bytes + 64;
    memcpy(place->bytes + 136, &pointer, sizeof(pointer));
    place->stubs = (struct stub_segment){.processor = &processor_x86_64,
                                         .address = (uint64_t)(uintptr_t)place->bytes + STUBS_AT};
}

/* Moves the first `displaced` bytes of the function to the stubs and makes all of it code. */
static void place_move(struct place *place, size_t displaced)
{
    struct function function = {.address = (uint64_t)(uintptr_t)place->bytes,
                                .displaced = (uint8_t)displaced};
    bool is_adjusted;

    assert_true(stub_body_append(&place->stubs, &function, place->bytes, &is_adjusted, NULL));
    memcpy(place->bytes + STUBS_AT, place->stubs.code.bytes, place->stubs.code.size);
    assert_int_equal(mprotect(place->bytes, PLACE_SIZE, PROT_READ | PROT_EXEC), 0);
}

static void place_end(struct place *place)
{
    munmap(place->bytes, PLACE_SIZE);
    free(place->stubs.code.bytes);
}

static uint64_t call(const struct place *place, size_t offset, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d)
{
    uint64_t (*function)(uint64_t, uint64_t, uint64_t, uint64_t);
    uint8_t *address = place->bytes + offset;

    memcpy(&function, &address, sizeof(function));
    return function(a, b, c, d);
}

/* The moved function and the one that was not must agree on a few arguments. */
static void assert_same(const char *code, size_t size, size_t displaced)
{
    struct place place;

    place_begin(&place, code, size);
    place_move(&place, displaced);
    for (uint64_t argument = 0; argument < 4; argument++) {
        uint64_t pointer = (uint64_t)(uintptr_t)place.bytes + 64;

        assert_int_equal(call(&place, STUBS_AT, argument, 7, pointer, argument),
                         call(&place, 0, argument, 7, pointer, argument));
    }
    place_end(&place);
}

#define ASSERT_SAME(code, displaced) assert_same(code, sizeof(code) - 1, displaced)

static void test_plain(void **state)
{
    (void)state;
    /* lea rax, [rdi + rdi * 4]; add rax, 1; ret */
    ASSERT_SAME("\x48\x8d\x04\xbf\x48\x83\xc0\x01\xc3", 8);
}

static void test_rip_relative(void **state)
{
    (void)state;
    /* mov rax, [rip + 121]; add rax, rdi; ret */
    ASSERT_SAME("\x48\x8b\x05\x79\x00\x00\x00\x48\x01\xf8\xc3", 7);
    /* cmp dword [rip + 118], 42 with an immediate behind the displacement; sete al; movzx; ret */
    ASSERT_SAME("\x81\x3d\x76\x00\x00\x00\x2a\x00\x00\x00\x0f\x94\xc0\x0f\xb6\xc0\xc3", 10);
}

static void test_condition(void **state)
{
    (void)state;
    /* test edi, edi; je 1f; mov eax, 1; ret; 1: mov eax, 2; ret */
    ASSERT_SAME("\x85\xff\x74\x06\xb8\x01\x00\x00\x00\xc3\xb8\x02\x00\x00\x00\xc3", 9);
}

static void test_loop_instructions(void **state)
{
    (void)state;
    /* mov eax, 5; jrcxz 1f; inc eax; 1: ret      (fourth argument in rcx) */
    ASSERT_SAME("\xb8\x05\x00\x00\x00\xe3\x02\xff\xc0\xc3", 7);
    /* lea ecx, [rdi + 1]; xor eax, eax; 1: inc eax; loop 1b; ret    moved up to the loop's head */
    ASSERT_SAME("\x8d\x4f\x01\x31\xc0\xff\xc0\xe2\xfc\xc3", 5);
}

static void test_branch_to_the_entry(void **state)
{
    (void)state;
    /* 1: sub edi, 1; jns 1b; lea eax, [rdi + 9]; ret */
    ASSERT_SAME("\x83\xef\x01\x79\xfb\x8d\x47\x09\xc3", 5);
}

static void test_tail_jump(void **state)
{
    (void)state;
    /* xor eax, eax; jmp 64      which returns the address of its caller: the same for both */
    struct place place;

    place_begin(&place, "\x31\xc0\xeb\x3c", 4);
    place_move(&place, 4);
    assert_int_not_equal(call(&place, STUBS_AT, 0, 0, 0, 0), 0);
    place_end(&place);
}

/* Each calls the function that gives its return address, which must be the original one. */
static void test_calls_return_to_the_original(void **state)
{
    (void)state;
    /* sub rsp, 8; call 64; add rsp, 8; ret */
    ASSERT_SAME("\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3", 9);
    /* sub rsp, 8; call rdx; add rsp, 8; ret */
    ASSERT_SAME("\x48\x83\xec\x08\xff\xd2\x48\x83\xc4\x08\xc3", 6);
    /* sub rsp, 8; call [rip + 126]; add rsp, 8; ret */
    ASSERT_SAME("\x48\x83\xec\x08\xff\x15\x7e\x00\x00\x00\x48\x83\xc4\x08\xc3", 10);
    /* push rdx; call [rsp]; pop rdx; ret */
    ASSERT_SAME("\x52\xff\x14\x24\x5a\xc3", 4);
    /* push rdx; push rdx; push rdx; call [rsp + 8]; add rsp, 24; ret */
    ASSERT_SAME("\x52\x52\x52\xff\x54\x24\x08\x48\x83\xc4\x18\xc3", 7);
    /* sub rsp, 8; xor eax, eax; call [rax + rdx * 1 ... ] through r10: mov r10, rdx; call r10 */
    ASSERT_SAME("\x48\x83\xec\x08\x49\x89\xd2\x41\xff\xd2\x48\x83\xc4\x08\xc3", 10);
}

static void test_call_keeps_registers_and_flags(void **state)
{
    (void)state;
    /* mov eax, 9; push rax; cmp eax, 9; call 1f; ret; 1: sete cl; movzx ecx, cl; lea eax, [rax +
     * rcx]; pop rdx; pop rdx ... the callee sees rax = 9 and equal flags */
    ASSERT_SAME("\xb8\x09\x00\x00\x00\x83\xf8\x09\xe8\x01\x00\x00\x00\xc3\x0f\x94\xc1\x0f\xb6\xc9"
                "\x8d\x04\x08\xc3",
                13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_rip_relative),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_loop_instructions),
        cmocka_unit_test(test_branch_to_the_entry),
        cmocka_unit_test(test_tail_jump),
        cmocka_unit_test(test_calls_return_to_the_original),
        cmocka_unit_test(test_call_keeps_registers_and_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
