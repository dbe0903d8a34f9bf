/* Stubs of i386, run by a program of its own, if there is one: the command line names it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/patch/stub.h"
#include "trace/image_manifest.h"

#include <cmocka.h>

#define PLACE_SIZE 65536u
#define STUBS_AT   32768u
#define BASE       0x20000000u

#define FRAME_FUNCTION 256u
#define FRAME_HOOK     512u
#define FRAME_WORD     1024u
#define FRAME_SEEN     1028u
#define FRAME_HEADER   2048u
#define FRAME_INDEX    77u

static const char *runner;

/*
 * Code with a function at 0, which calls or reads what lies behind it:
 *
 *      0     the function
 *      64    mov eax, [esp]; ret       gives the address it returns to
 *      128   the number 42
 *      136   a pointer to 64
 *      32768 stubs
 */
struct place {
    uint8_t bytes[PLACE_SIZE];
    struct stub_segment stubs;
};

static void put32(struct place *place, size_t offset, uint32_t value)
{
    memcpy(place->bytes + offset, &value, sizeof(value));
}

static void place_begin(struct place *place, const char *code, size_t size)
{
    memset(place->bytes, 0xf4, PLACE_SIZE);
    memcpy(place->bytes, code, size);
    memcpy(place->bytes + 64, "\x8b\x04\x24\xc3", 4);
    put32(place, 128, 42);
    put32(place, 136, BASE + 64);
    place->stubs =
        (struct stub_segment){.processor = &processor_i386, .address = (uint64_t)BASE + STUBS_AT};
}

/* Moves the first `displaced` bytes of the function to the stubs. */
static bool place_move(struct place *place, size_t displaced)
{
    struct function function = {.address = BASE, .displaced = (uint8_t)displaced};
    bool is_adjusted,
        is_moved = stub_body_append(&place->stubs, &function, place->bytes, &is_adjusted, NULL);

    memcpy(place->bytes + STUBS_AT, place->stubs.code.bytes, place->stubs.code.size);
    return is_moved;
}

static void place_end(struct place *place)
{
    free(place->stubs.code.bytes);
}

/* What the function at an offset returns. */
static unsigned run(const struct place *place, unsigned offset, unsigned argument)
{
    char path[] = "/tmp/stub_test.XXXXXX", command[512];
    int file = mkstemp(path);
    unsigned result;
    FILE *answer;

    assert_true(file >= 0);
    assert_int_equal(write(file, place->bytes, PLACE_SIZE), PLACE_SIZE);
    close(file);
    snprintf(command, sizeof(command), "'%s' %s %u %u %u 7 %u %u", runner, path, BASE, offset,
             argument, BASE + 64, argument);
    answer = popen(command, "r");
    assert_non_null(answer);
    assert_int_equal(fscanf(answer, "%u", &result), 1);
    assert_int_equal(pclose(answer), 0);
    unlink(path);
    return result;
}

/* The moved function and the one that was not must agree on a few arguments. */
static void assert_same(const char *code, size_t size, size_t displaced)
{
    static struct place place;

    place_begin(&place, code, size);
    assert_true(place_move(&place, displaced));
    if (!runner)
        skip();
    for (unsigned argument = 0; argument < 3; argument++)
        assert_int_equal(run(&place, STUBS_AT, argument), run(&place, 0, argument));
    place_end(&place);
}

#define ASSERT_SAME(code, displaced) assert_same(code, sizeof(code) - 1, displaced)

static void test_plain(void **state)
{
    (void)state;
    /* mov eax, [esp + 4]; lea eax, [eax + eax * 4]; add eax, 1; ret */
    ASSERT_SAME("\x8b\x44\x24\x04\x8d\x04\x80\x83\xc0\x01\xc3", 7);
}

static void test_absolute_operands(void **state)
{
    (void)state;
    /* mov eax, [BASE + 128]; add eax, [esp + 4]; ret */
    ASSERT_SAME("\xa1\x80\x00\x00\x20\x03\x44\x24\x04\xc3", 5);
    /* mov ecx, [BASE + 128]; mov eax, ecx; ret */
    ASSERT_SAME("\x8b\x0d\x80\x00\x00\x20\x89\xc8\xc3", 6);
}

static void test_conditions(void **state)
{
    (void)state;
    /* mov ecx, [esp + 4]; test ecx, ecx; je 1f; mov eax, 1; ret; 1: mov eax, 2; ret */
    ASSERT_SAME("\x8b\x4c\x24\x04\x85\xc9\x74\x06\xb8\x01\x00\x00\x00\xc3\xb8\x02\x00\x00\x00\xc3",
                8);
    /* the same with a displacement of 32 bits */
    ASSERT_SAME("\x8b\x4c\x24\x04\x85\xc9\x0f\x84\x06\x00\x00\x00\xb8\x01\x00\x00\x00\xc3"
                "\xb8\x02\x00\x00\x00\xc3",
                12);
}

static void test_loop_instructions(void **state)
{
    (void)state;
    /* mov ecx, [esp + 4]; mov eax, 5; jecxz 1f; inc eax; 1: ret */
    ASSERT_SAME("\x8b\x4c\x24\x04\xb8\x05\x00\x00\x00\xe3\x01\x40\xc3", 11);
    /* mov ecx, [esp + 4]; shl ecx, 16; xor eax, eax; jcxz 1f; inc eax; 1: ret */
    ASSERT_SAME("\x8b\x4c\x24\x04\xc1\xe1\x10\x31\xc0\x67\xe3\x01\x40\xc3", 12);
    /* mov ecx, [esp + 4]; inc ecx; xor eax, eax; 1: inc eax; loop 1b; ret */
    ASSERT_SAME("\x8b\x4c\x24\x04\x41\x31\xc0\x40\xe2\xfd\xc3", 7);
}

static void test_branch_to_the_entry(void **state)
{
    (void)state;
    /* 1: dec dword [esp + 4]; jns 1b; mov eax, [esp + 4]; ret */
    ASSERT_SAME("\xff\x4c\x24\x04\x79\xfa\x8b\x44\x24\x04\xc3", 6);
}

/* push ebx; call 192; lea eax, [ebx + 3]; pop ebx; ret, where there is mov ebx, [esp]; ret. */
static void test_a_call_of_a_thunk_becomes_what_it_does(void **state)
{
    static const char code[] = "\x53\xe8\xba\x00\x00\x00\x8d\x43\x03\x5b\xc3";
    struct stub_moves moves = {.has_call = false};
    struct function function = {.address = BASE, .displaced = 6};
    static struct place place;
    struct code_range range = {BASE, place.bytes, PLACE_SIZE};
    const struct code image = {.processor = &processor_i386, .ranges = &range, .range_count = 1};
    bool is_adjusted;

    (void)state;
    place_begin(&place, code, sizeof(code) - 1);
    memcpy(place.bytes + 192, "\x8b\x1c\x24\xc3", 4);
    place.stubs.image = &image;
    assert_true(stub_body_append(&place.stubs, &function, place.bytes, &is_adjusted, &moves));
    assert_true(is_adjusted);
    assert_false(moves.has_call);
    assert_int_equal(moves.to[6], 1 + 12);
    memcpy(place.bytes + STUBS_AT, place.stubs.code.bytes, place.stubs.code.size);
    if (!runner)
        skip();
    assert_int_equal(run(&place, STUBS_AT, 0), BASE + 6 + 3);
    assert_int_equal(run(&place, 0, 0), BASE + 6 + 3);
    place_end(&place);
}

/* Each calls the function that gives its return address, which must be the original one. */
static void test_calls_return_to_the_original(void **state)
{
    (void)state;
    /* push ebx; call 64; pop ebx; ret */
    ASSERT_SAME("\x53\xe8\x3a\x00\x00\x00\x5b\xc3", 6);
    /* push ebp; push edi; push esi; push ebx; call 64; pop ebx; pop esi; pop edi; pop ebp; ret */
    ASSERT_SAME("\x55\x57\x56\x53\xe8\x37\x00\x00\x00\x5b\x5e\x5f\x5d\xc3", 9);
    /* mov eax, [esp + 12]; call eax; ret */
    ASSERT_SAME("\x8b\x44\x24\x0c\xff\xd0\xc3", 6);
    /* mov eax, BASE + 136; call [eax]; ret */
    ASSERT_SAME("\xb8\x88\x00\x00\x20\xff\x10\xc3", 7);
    /* call [BASE + 136]; ret */
    ASSERT_SAME("\xff\x15\x88\x00\x00\x20\xc3", 6);
    /* xor eax, eax; call [eax * 4 + BASE + 136]; ret */
    ASSERT_SAME("\x31\xc0\xff\x14\x85\x88\x00\x00\x20\xc3", 9);
}

static void test_calls_through_the_stack(void **state)
{
    (void)state;
    /* push [esp + 12]; call [esp]; pop edx; ret */
    ASSERT_SAME("\xff\x74\x24\x0c\xff\x14\x24\x5a\xc3", 7);
    /* mov edx, [esp + 12]; push edx; push edx; push edx; call [esp + 8]; add esp, 12; ret */
    ASSERT_SAME("\x8b\x54\x24\x0c\x52\x52\x52\xff\x54\x24\x08\x83\xc4\x0c\xc3", 11);
}

static void test_a_call_of_what_follows_gives_the_original_address(void **state)
{
    (void)state;
    /* call +0; pop eax; ret */
    ASSERT_SAME("\xe8\x00\x00\x00\x00\x58\xc3", 5);
    /* push ebx; call +0; pop eax; pop ebx; ret */
    ASSERT_SAME("\x53\xe8\x00\x00\x00\x00\x58\x5b\xc3", 6);
}

static void test_call_keeps_registers_and_flags(void **state)
{
    (void)state;
    /* mov eax, 9; cmp eax, 9; call 1f; ret; 1: sete cl; movzx ecx, cl; lea eax, [eax + ecx]; ret */
    ASSERT_SAME("\xb8\x09\x00\x00\x00\x83\xf8\x09\xe8\x01\x00\x00\x00\xc3\x0f\x94\xc1\x0f\xb6\xc9"
                "\x8d\x04\x08\xc3",
                13);
}

static void assert_unmovable(const char *code, size_t size)
{
    static struct place place;

    place_begin(&place, code, size);
    assert_false(place_move(&place, size));
    place_end(&place);
}

static void test_what_cannot_move(void **state)
{
    (void)state;
    assert_unmovable("\xff\xd4", 2);                     /* call esp */
    assert_unmovable("\x66\xe9\x10\x00", 4);             /* jmp, with a displacement of 16 bits */
    assert_unmovable("\x9a\x00\x00\x00\x00\x23\x00", 7); /* call 0x23:0 */
    assert_unmovable("\xea\x00\x00\x00\x00\x23\x00", 7); /* jmp 0x23:0 */
}

/*
 * A stub, of the function at FRAME_FUNCTION, and who calls it, at 0:
 *
 *      0               mov eax, 5; mov ecx, 7; call stub; ret
 *      FRAME_FUNCTION  lea eax, [eax + ecx * 8]; nop; nop; ret
 *      FRAME_HOOK      mov [FRAME_SEEN], eax; pop eax; pop ecx; jmp [FRAME_SEEN]
 */
static void frame_begin(struct place *place, struct function *function, uint32_t hook)
{
    const struct stub_targets targets = {.header = BASE + FRAME_HEADER, .hook = BASE + FRAME_WORD};

    place_begin(place, "\xb8\x05\x00\x00\x00\xb9\x07\x00\x00\x00\xe8\x00\x00\x00\x00\xc3", 16);
    put32(place, 11, STUBS_AT - 15);
    memcpy(place->bytes + FRAME_FUNCTION, "\x8d\x04\xc8\x90\x90\xc3", 6);
    memcpy(place->bytes + FRAME_HOOK, "\xa3\x00\x00\x00\x00\x58\x59\xff\x25\x00\x00\x00\x00", 13);
    put32(place, FRAME_HOOK + 1, BASE + FRAME_SEEN);
    put32(place, FRAME_HOOK + 9, BASE + FRAME_SEEN);
    put32(place, FRAME_WORD, hook);
    *function = (struct function){.address = BASE + FRAME_FUNCTION, .displaced = 5};
    assert_true(
        stub_append(&place->stubs, function, place->bytes + FRAME_FUNCTION, FRAME_INDEX, NULL));
    stub_bind(&place->stubs, function, &targets);
    memcpy(place->bytes + STUBS_AT, place->stubs.code.bytes, place->stubs.code.size);
}

static void assert_frame_runs(uint32_t hook)
{
    static struct place place;
    struct function function;

    frame_begin(&place, &function, hook);
    if (!runner)
        skip();
    assert_int_equal(run(&place, 0, 0), 5 + 7 * 8);
    place_end(&place);
}

static void test_a_frame_goes_on_to_the_body(void **state)
{
    (void)state;
    assert_frame_runs(0);
}

static void test_a_frame_calls_the_hook(void **state)
{
    (void)state;
    assert_frame_runs(BASE + FRAME_HOOK);
}

static void test_a_frame_is_what_is_drawn(void **state)
{
    const struct stub_targets targets = {.header = BASE + FRAME_HEADER, .hook = BASE + FRAME_WORD};
    static struct place place;
    struct function function;
    uint8_t *stub;

    (void)state;
    frame_begin(&place, &function, 0);
    stub = place.stubs.code.bytes;
    assert_int_equal(function.body, STUB_FRAME_SIZE_I386);
    assert_true(stub_is_frame(&processor_i386, stub, place.stubs.address, &targets, FRAME_INDEX));
    assert_false(
        stub_is_frame(&processor_i386, stub, place.stubs.address, &targets, FRAME_INDEX + 1));
    assert_false(
        stub_is_frame(&processor_x86_64, stub, place.stubs.address, &targets, FRAME_INDEX));
    for (size_t i = 0; i < STUB_FRAME_SIZE_I386; i++) {
        stub[i] ^= 1;
        assert_false(
            stub_is_frame(&processor_i386, stub, place.stubs.address, &targets, FRAME_INDEX));
        stub[i] ^= 1;
    }
    place_end(&place);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_absolute_operands),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_loop_instructions),
        cmocka_unit_test(test_branch_to_the_entry),
        cmocka_unit_test(test_calls_return_to_the_original),
        cmocka_unit_test(test_a_call_of_a_thunk_becomes_what_it_does),
        cmocka_unit_test(test_calls_through_the_stack),
        cmocka_unit_test(test_a_call_of_what_follows_gives_the_original_address),
        cmocka_unit_test(test_call_keeps_registers_and_flags),
        cmocka_unit_test(test_what_cannot_move),
        cmocka_unit_test(test_a_frame_goes_on_to_the_body),
        cmocka_unit_test(test_a_frame_calls_the_hook),
        cmocka_unit_test(test_a_frame_is_what_is_drawn),
    };

    runner = argument_count > 1 ? arguments[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
