/* Calls and jumps by pointers, out of copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/copy/site_machine.h"

#include <cmocka.h>

static _Thread_local uint64_t thread_pointer_word;

#define BY_POINTER (FRAME_SITE_OUT | FRAME_SITE_POINTER)

static void assert_knows(struct scene *scene, struct pointer_links *links, unsigned number)
{
    uint64_t callee = links->links[number].callee;
    int32_t count = links->links[number].word;
    struct pointer_links before;

    scene->begun.registers[RAX] = links->targets[number];
    words.note = 1;
    run_again(scene);
    assert_at_call(scene, ONLY_R11);
    assert_int_equal(machine.registers[R11], links->go[number]);
    assert_int_equal(links->links[number].word, count + 1);
    assert_int_equal(*shadow(POINTER - 8), callee);
    assert_int_equal(words.note, POINTER);
    run_until(links->go[number]);
    assert_int_equal(*word(machine.registers[RSP]), scene->call + 3);
    links->links[number].word = -1;
    before = *links;
    words.note = 1;
    *shadow(POINTER - 8) = 5;
    run_again(scene);
    assert_slow(scene, BY_POINTER, ONLY_R11);
    assert_int_equal(machine.registers[R11], links->targets[number]);
    assert_memory_equal(links, &before, sizeof(before));
    assert_int_equal(words.note, 1);
    assert_int_equal(*shadow(POINTER - 8), 5);
}

static void test_a_call_by_a_pointer_knows_two_targets(void **state)
{
    struct scene scene;
    struct pointer_links *links;

    (void)state;
    links = begin_pointer(&scene, 0);
    assert_int_equal(key_of(&scene, 0)->links, 2 * POINTER_LINKS);
    assert_knows(&scene, links, 0);
    assert_int_equal(links->links[1].word, -20);
    links->links[0].word = -10;
    assert_knows(&scene, links, 1);
    assert_int_equal(links->links[0].word, -10);
    copied_end(&scene.copied);
}

static void test_a_third_target_is_told_who_calls(void **state)
{
    struct scene scene;
    struct pointer_links *links, before;

    (void)state;
    links = begin_pointer(&scene, 0);
    before = *links;
    own_links()->unknown = 1;
    scene.begun.registers[RAX] = SLOW + 8;
    run_again(&scene);
    assert_at_call(&scene, ONLY_R11);
    assert_int_equal(own_links()->unknown, 0);
    assert_int_equal(machine.registers[R11], SLOW + 8);
    assert_int_equal(*shadow(POINTER - 8), OWN | FRAME_CALLED_OUT);
    assert_int_equal(words.note, POINTER);
    assert_memory_equal(links, &before, sizeof(before));
    copied_end(&scene.copied);
}

/* A pause may come between any two instructions: nothing but the thread's words is written then. */
static void assert_may_be_paused(struct scene *scene, uint16_t dead)
{
    uint64_t frames = *word(WORD(frames));
    unsigned steps;

    run_again(scene);
    steps = machine.steps;
    for (unsigned i = 1; i <= steps; i++) {
        const uint64_t *control = (const uint64_t *)__builtin_thread_pointer();
        uint64_t before[4];

        memcpy(before, control, sizeof(before));
        *word(WORD(frames)) = frames;
        *shadow(scene->own) = OWN;
        scene->begun.pause_at = i;
        run_again(scene);
        scene->begun.pause_at = 0;
        assert_memory_equal(control, before, sizeof(before));
        assert_at_call(scene, dead);
    }
}

#define FURTHER_ROOM 16
#define THIRD        (SLOW + 8)

/* The entry of a table at CHUNK that has the third target's home, or one behind it. */
static struct further_target *begin_further(const struct pointer_links *site, unsigned behind)
{
    uint64_t mask = (FURTHER_ROOM - 1) * sizeof(struct further_target);
    uint64_t home = (THIRD * (uint64_t)(int64_t)(int32_t)FURTHER_HASH + (uint64_t)site) & mask;
    struct further_target *entry = (struct further_target *)(CHUNK + home) + behind;

    memset((void *)(uintptr_t)CHUNK, 0, (FURTHER_ROOM + 1) * sizeof(*entry));
    *entry = (struct further_target){
        (uint64_t)site, THIRD, (struct trace_link *)(uintptr_t)(OTHER + 0x40), OUTSIDE + 0x200};
    *entry->link = (struct trace_link){CALLEE + 8, -10, 0};
    words.further = CHUNK;
    words.further_mask = (uint32_t)mask;
    return entry;
}

static void assert_unknown(struct scene *scene)
{
    own_links()->unknown = 5;
    *shadow(scene->own) = OWN;
    run_again(scene);
    assert_at_call(scene, ONLY_R11);
    assert_int_equal(own_links()->unknown, 4);
    assert_int_equal(machine.registers[R11], THIRD);
    assert_int_equal(*shadow(POINTER - 8), OWN | FRAME_CALLED_OUT);
    assert_int_equal(words.note, POINTER);
}

/* With any two registers dead, and with none. */
static void assert_further(uint16_t dead, unsigned behind)
{
    const struct trace_link *link = (const struct trace_link *)(uintptr_t)(OTHER + 0x40);
    struct scene scene;
    struct pointer_links *links = begin_pointer(&scene, dead), before = *links;
    struct further_target *entry = begin_further(links, behind);

    scene.begun.registers[RAX] = THIRD;
    run_again(&scene);
    assert_at_call(&scene, dead | ONLY_R11);
    assert_int_equal(machine.registers[R11], OUTSIDE + 0x200);
    assert_int_equal(link->word, -9);
    assert_int_equal(*shadow(POINTER - 8), CALLEE + 8);
    assert_int_equal(words.note, 1); /* none is needed: it is a copy */
    assert_memory_equal(links, &before, sizeof(before));
    ((struct trace_link *)(uintptr_t)(OTHER + 0x40))->word = -1; /* its turn */
    *shadow(POINTER - 8) = 5;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, dead | ONLY_R11);
    assert_int_equal(machine.registers[R11], THIRD);
    assert_int_equal(link->word, -1);
    assert_int_equal(*shadow(POINTER - 8), 5);
    entry->target ^= 8;
    *shadow(scene.own) = OWN;
    own_links()->unknown = 0;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, dead | ONLY_R11);
    copied_end(&scene.copied);
}

static void test_further_targets_are_in_a_table(void **state)
{
    static const uint8_t may_die[] = {RCX, RDX, RSI, RDI, R8, R9, R10};

    (void)state;
    for (unsigned behind = 0; behind < FURTHER_PLACES; behind++) {
        assert_further(0, behind);
        for (size_t i = 0; i < sizeof(may_die); i++)
            for (size_t j = i; j < sizeof(may_die); j++)
                assert_further((uint16_t)(1u << may_die[i] | 1u << may_die[j]), behind);
    }
}

static void test_targets_that_are_in_no_table(void **state)
{
    struct scene scene;
    struct pointer_links *links;
    struct further_target *entry;

    (void)state;
    links = begin_pointer(&scene, 0);
    scene.begun.registers[RAX] = THIRD;
    assert_unknown(&scene); /* there is none */
    entry = begin_further(links, FURTHER_PLACES);
    assert_unknown(&scene); /* too far from its home */
    entry = begin_further(links, 0);
    entry->site += 64; /* another site's */
    assert_unknown(&scene);
    entry->site -= 64;
    entry->target += 16;
    assert_unknown(&scene);
    copied_end(&scene.copied);
}

static void test_a_pause_amid_a_further_target(void **state)
{
    struct scene scene;
    struct pointer_links *links;

    (void)state;
    links = begin_pointer(&scene, 0);
    begin_further(links, 1);
    ((struct trace_link *)(uintptr_t)(OTHER + 0x40))->word = -1000;
    scene.begun.registers[RAX] = THIRD;
    assert_may_be_paused(&scene, ONLY_R11);
    copied_end(&scene.copied);
}

/* After some, one of them is looked at. */
static void test_third_targets_take_the_slow_path_at_times(void **state)
{
    struct scene scene;
    struct pointer_links *links, before;

    (void)state;
    links = begin_pointer(&scene, 0);
    before = *links;
    own_links()->unknown = 0;
    scene.begun.registers[RAX] = SLOW + 8;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, ONLY_R11);
    assert_memory_equal(links, &before, sizeof(before));
    copied_end(&scene.copied);
}

static void test_a_target_for_which_there_is_room_takes_the_slow_path(void **state)
{
    struct scene scene;
    struct pointer_links *links;

    (void)state;
    links = begin_pointer(&scene, 0);
    links->targets[1] = 0;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, ONLY_R11);
    assert_int_equal(machine.registers[R11], ELSEWHERE);
    links->targets[0] = 0;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, ONLY_R11);
    assert_int_equal(words.note, 1);
    copied_end(&scene.copied);
}

static void test_a_call_by_a_pointer_out_of_no_context(void **state)
{
    struct scene scene;

    (void)state;
    begin_pointer(&scene, 0);
    *shadow(scene.own) = OWN | FRAME_CALLED_OUT;
    own_links()->key ^= 1;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, ONLY_R11);
    *shadow(scene.own) = 0;
    run_again(&scene);
    assert_slow(&scene, BY_POINTER, ONLY_R11);
    *word(WORD(frames)) = 0;
    run_again(&scene);
    assert_at_call(&scene, ONLY_R11);
    assert_int_equal(machine.registers[R11], ELSEWHERE);
    copied_end(&scene.copied);
}

static void test_registers_of_calls_by_pointers(void **state)
{
    static const uint8_t may_die[] = {RCX, RDX, RSI, RDI, R8, R9, R10, R11};

    (void)state;
    for (size_t i = 0; i < sizeof(may_die); i++)
        for (size_t j = i; j < sizeof(may_die); j++) {
            uint16_t dead = (uint16_t)(1u << may_die[i] | 1u << may_die[j]);
            struct scene scene;
            struct pointer_links *links = begin_pointer(&scene, dead);

            for (unsigned number = 0; number < 2; number++) {
                scene.begun.registers[RAX] = links->targets[number];
                run_again(&scene);
                assert_at_call(&scene, dead | ONLY_R11);
                assert_int_equal(machine.registers[R11], links->go[number]);
                assert_int_equal(*shadow(POINTER - 8), links->links[number].callee);
            }
            copied_end(&scene.copied);
        }
}

static void test_a_jump_by_a_pointer(void **state)
{
    struct pointer_links *links = (struct pointer_links *)own_links()->links;
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    scene.copied.slot.offset = 0;
    ADD(&scene.copied, 0, "\x31\xc0\x31\xd2\x31\xc9\xff\xe6"); /* …; jmp rsi */
    copied_plan(&scene.copied);
    set_dead(&scene, 6, ONLY_R11);
    place_scene(&scene, 6);
    *links = (struct pointer_links){.targets = {OUTSIDE}, .links = {{CALLEE, -10, 0}}};
    links->go[0] = OUTSIDE;
    scene.begun.registers[RSI] = OUTSIDE;
    run_again(&scene);
    assert_at_call(&scene, ONLY_R11);
    assert_int_equal(*shadow(POINTER), CALLEE);
    assert_int_equal(links->links[0].word, -9);
    assert_int_equal(words.note, POINTER + 8);
    run_until(OUTSIDE);
    assert_kept(&scene, ONLY_R11, 0);
    links->targets[1] = ELSEWHERE;
    own_links()->unknown = 1;
    *shadow(POINTER) = OWN;
    scene.begun.registers[RSI] = SLOW + 8;
    run_again(&scene);
    assert_at_call(&scene, ONLY_R11);
    assert_int_equal(*shadow(POINTER), OWN | FRAME_JUMPED_OUT);
    copied_end(&scene.copied);
}

static void test_a_pause_amid_a_site(void **state)
{
    struct pointer_links *links;
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    set_link(&scene, -1000);
    assert_may_be_paused(&scene, 0);
    copied_end(&scene.copied);
    begin_call_out(&scene);
    assert_may_be_paused(&scene, 0);
    copied_end(&scene.copied);
    begin_jump_out(&scene);
    assert_may_be_paused(&scene, 0);
    copied_end(&scene.copied);
    links = begin_pointer(&scene, 0);
    for (unsigned i = 0; i < 2; i++) {
        links->links[i].word = -1000;
        scene.begun.registers[RAX] = links->targets[i];
        assert_may_be_paused(&scene, ONLY_R11);
        *word(WORD(frames)) = *word(WORD(words));
    }
    copied_end(&scene.copied);
}

/* Calls that find thread-local storage keep all registers but rax. */
static void test_a_call_by_a_pointer_while_r11_is_alive(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    ADD(&scene.copied, 0, "\x0f\x1f\x44\x00\x00\xff\x10\xc3"); /* nop; call [rax] */
    copied_plan(&scene.copied);
    set_dead(&scene, 5, (uint16_t)~ONLY_R11 & 0x0fc6);
    place_scene(&scene, 5);
    scene.begun.registers[RAX] = OTHER;
    *word(OTHER) = OUTSIDE;
    run_again(&scene);
    assert_at_call(&scene, (uint16_t)~ONLY_R11 & 0x0fc6);
    assert_int_equal(*shadow(POINTER - 8), OWN | FRAME_CALLED_OUT);
    assert_int_equal(words.note, POINTER);
    run_until(OUTSIDE);
    assert_int_equal(machine.rip, OUTSIDE);
    assert_int_equal(machine.registers[R11], scene.begun.registers[R11]);
    copied_end(&scene.copied);
}

/* What r11 is at a call, which is all that the code at 0 does. */
static void assert_operand(const char *call, size_t size, uint64_t expected)
{
    struct scene scene;
    char code[32] = "\x0f\x1f\x44\x00"; /* nop, of 5 bytes */

    begin_scene(&scene);
    memcpy(code + 5, call, size);
    code[5 + size] = (char)0xc3;
    copied_add(&scene.copied, 0, code, size + 6);
    copied_plan(&scene.copied);
    assert_string_equal(flow_doubt_word(scene.copied.plan.doubts[0]), "certain");
    set_dead(&scene, 5, ONLY_R11);
    place_scene(&scene, 5);
    scene.begun.registers[RAX] = 5;
    scene.begun.registers[RCX] = OTHER;
    scene.begun.registers[R10] = OTHER + 0x18;
    scene.begun.registers[R11] = OTHER + 0x20;
    scene.begun.registers[R12] = OTHER + 0x28;
    scene.begun.registers[R13] = OTHER + 0x30;
    for (uint64_t i = 0; i < 64; i++)
        *word(OTHER + 8 * i) = OUTSIDE + i;
    *word(TABLE + 8) = OUTSIDE + 100;
    machine = scene.begun;
    memset((void *)(uintptr_t)STACK, 0x77, STACK_SIZE);
    for (uint64_t i = 0; i < 64; i++)
        *word(POINTER + 8 * i) = OUTSIDE + 200 + i;
    thread_pointer_word = OUTSIDE + 300;
    run_until(scene.call);
    assert_int_equal(machine.rip, SLOW);
    assert_int_equal(machine.registers[R11], expected);
    for (int i = 0; i < REGISTERS; i++)
        if (i != R11 && i != RSP)
            assert_int_equal(machine.registers[i], scene.begun.registers[i]);
    copied_end(&scene.copied);
}

#define OPERAND(call, expected) assert_operand(call, sizeof(call) - 1, expected)

static void test_operands_of_calls_by_pointers(void **state)
{
    uint32_t place = (uint32_t)from_thread_pointer(&thread_pointer_word);
    char of_thread[8] = "\x64\xff\x14\x25";

    (void)state;
    OPERAND("\xff\xd1", OTHER);                             /* rcx */
    OPERAND("\x3e\xff\xd1", OTHER);                         /* notrack rcx */
    OPERAND("\x41\xff\xd2", OTHER + 0x18);                  /* r10 */
    OPERAND("\x41\xff\xd3", OTHER + 0x20);                  /* r11 */
    OPERAND("\xff\x11", OUTSIDE);                           /* [rcx] */
    OPERAND("\x41\xff\x12", OUTSIDE + 3);                   /* [r10] */
    OPERAND("\x41\xff\x53\x08", OUTSIDE + 5);               /* [r11 + 8] */
    OPERAND("\x41\xff\x14\x24", OUTSIDE + 5);               /* [r12] */
    OPERAND("\x41\xff\x55\x00", OUTSIDE + 6);               /* [r13] */
    OPERAND("\xff\x54\x24\x10", OUTSIDE + 202);             /* [rsp + 16] */
    OPERAND("\xff\x94\xc4\x00\x01\x00\x00", OUTSIDE + 237); /* [rsp + rax * 8 + 0x100] */
    OPERAND("\xff\x95\x10\xff\xff\xff", OUTSIDE + 202);     /* [rbp - 0xf0] */
    OPERAND("\xff\x54\xc1\x08", OUTSIDE + 6);               /* [rcx + rax * 8 + 8] */
    OPERAND("\x42\xff\x54\x18\x03", OUTSIDE + 5);           /* [rax + r11 + 3] */
    OPERAND("\xff\x15\xfd\x6f\x00\x00", OUTSIDE + 100);     /* [rip + …] */
    OPERAND("\x67\xff\x11", OUTSIDE);                       /* [ecx] */
    memcpy(of_thread + 4, &place, sizeof(place));
    assert_operand(of_thread, sizeof(of_thread), OUTSIDE + 300); /* fs:[…] */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_by_a_pointer_knows_two_targets),
        cmocka_unit_test(test_a_third_target_is_told_who_calls),
        cmocka_unit_test(test_further_targets_are_in_a_table),
        cmocka_unit_test(test_targets_that_are_in_no_table),
        cmocka_unit_test(test_a_pause_amid_a_further_target),
        cmocka_unit_test(test_third_targets_take_the_slow_path_at_times),
        cmocka_unit_test(test_a_target_for_which_there_is_room_takes_the_slow_path),
        cmocka_unit_test(test_a_call_by_a_pointer_out_of_no_context),
        cmocka_unit_test(test_registers_of_calls_by_pointers),
        cmocka_unit_test(test_a_jump_by_a_pointer),
        cmocka_unit_test(test_a_pause_amid_a_site),
        cmocka_unit_test(test_a_call_by_a_pointer_while_r11_is_alive),
        cmocka_unit_test(test_operands_of_calls_by_pointers),
    };

    return cmocka_run_group_tests_name("frame_pointers", tests, site_machine_prepare, NULL);
}
