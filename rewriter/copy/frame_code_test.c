/* Calls of copies, jumps and calls out of them, and whose links count them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/copy/site_machine.h"
#include "support/memory.h"

#include <cmocka.h>

/* --- Calls of copies --- */

static void test_a_call_is_counted_and_the_callee_has_its_context(void **state)
{
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -9);
    assert_int_equal(*shadow(POINTER - 8), CALLEE);
    assert_int_equal(*shadow(scene.own), OWN);
    assert_int_equal(words.note, 1);
    run_until(body_of(&scene, 1));
    assert_int_equal(*word(machine.registers[RSP]), scene.call + 5);
    run_until(scene.call + 5);
    assert_int_equal(machine.registers[RSP], POINTER);
    assert_int_equal(own_links()->links[0].word, -9);
    copied_end(&scene.copied);
}

static void assert_counts_with(uint16_t dead)
{
    struct scene scene;

    begin_call(&scene, dead);
    run_until(scene.call);
    assert_at_call(&scene, dead);
    assert_int_equal(own_links()->links[0].word, -9);
    assert_int_equal(*shadow(POINTER - 8), CALLEE);
    own_links()->links[0].word = 0;
    run_again(&scene);
    assert_slow(&scene, 0, dead);
    assert_int_equal(own_links()->links[0].word, 0);
    copied_end(&scene.copied);
}

static void test_registers_are_kept_unless_they_are_dead(void **state)
{
    static const uint8_t may_die[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11};

    (void)state;
    for (size_t i = 0; i < sizeof(may_die); i++)
        for (size_t j = i; j < sizeof(may_die); j++)
            assert_counts_with((uint16_t)(1u << may_die[i] | 1u << may_die[j]));
    assert_counts_with(0x0fc7);
}

static void test_nothing_is_done_while_nothing_is_recorded(void **state)
{
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    *word(WORD(frames)) = 0;
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -10);
    copied_end(&scene.copied);
}

static void test_what_is_not_as_usual_takes_the_slow_path(void **state)
{
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    *shadow(scene.own) = 0;
    run_again(&scene);
    assert_slow(&scene, 0, 0);
    *shadow(scene.own) = OWN;
    own_links()->key++;
    run_again(&scene);
    assert_slow(&scene, 0, 0);
    own_links()->key--;
    words.size = 0;
    run_again(&scene);
    assert_slow(&scene, 0, 0);
    assert_int_equal(own_links()->links[0].word, -10);
    words.size = STACK_SIZE;
    run_again(&scene);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -9);
    copied_end(&scene.copied);
}

static void test_the_stack_has_two_ends(void **state)
{
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    words = (struct frame_words){
        .low = POINTER, .size = STACK_SIZE, .shadow = (uint64_t)shadow(POINTER), .note = 1};
    run_again(&scene);
    assert_at_call(&scene, 0);
    words = (struct frame_words){
        .low = POINTER + 1, .size = STACK_SIZE, .shadow = (uint64_t)shadow(POINTER) + 1, .note = 1};
    run_again(&scene);
    assert_slow(&scene, 0, 0);
    words =
        (struct frame_words){.low = STACK, .size = POINTER - STACK, .shadow = SHADOW, .note = 1};
    run_again(&scene);
    assert_slow(&scene, 0, 0);
    words.size++;
    run_again(&scene);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -8);
    copied_end(&scene.copied);
}

static void test_a_link_counts_as_long_as_it_is_negative(void **state)
{
    static const int32_t slow[] = {-1, 0, 1, 0x7ffffffe};
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++) {
        set_link(&scene, slow[i]);
        *shadow(POINTER - 8) = 5;
        run_again(&scene);
        assert_slow(&scene, 0, 0);
        assert_int_equal(own_links()->links[0].word, slow[i]);
        assert_int_equal(*shadow(POINTER - 8), 5);
    }
    set_link(&scene, -2);
    run_again(&scene);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -1);
    copied_end(&scene.copied);
}

static void test_a_call_of_a_leaf_is_a_count_alone(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    ADD(&scene.copied, 0, CALLER_OF_40);
    ADD(&scene.copied, 0x40, LEAF);
    copied_plan(&scene.copied);
    set_dead(&scene, 4, 0);
    place_scene(&scene, 4);
    set_link(&scene, -10);
    *shadow(POINTER - 8) = 5;
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -9);
    assert_int_equal(*shadow(POINTER - 8), 5);
    run_until(body_of(&scene, 1));
    assert_int_equal(*word(machine.registers[RSP]), scene.call + 5);
    assert_int_equal(key_of(&scene, 1)->index, 1 | STUB_LEAF);
    assert_int_equal(key_of(&scene, 1)->links, 0);
    copied_end(&scene.copied);
}

static void test_a_frame_by_rbp(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    scene.copied.slot.base = RETURN_SLOT_RBP;
    scene.copied.slot.offset = 8;
    ADD(&scene.copied, 0, CALLER_OF_40);
    ADD(&scene.copied, 0x40, NO_LEAF);
    copied_plan(&scene.copied);
    set_dead(&scene, 4, 0);
    place_scene(&scene, 4);
    set_link(&scene, -10);
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -9);
    assert_int_equal(*shadow(POINTER - 8), CALLEE);
    *shadow(scene.own) = 0;
    run_again(&scene);
    assert_slow(&scene, FRAME_SITE_RBP, 0);
    copied_end(&scene.copied);
}

static void test_a_frame_by_rbp_on_another_stack(void **state)
{
    static const uint64_t others[] = {0, STACK - 16, STACK + STACK_SIZE - 8, 0x7fff00000000,
                                      UINT64_MAX - 7};
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    scene.copied.slot.base = RETURN_SLOT_RBP;
    scene.copied.slot.offset = 8;
    ADD(&scene.copied, 0, CALLER_OF_40);
    ADD(&scene.copied, 0x40, NO_LEAF);
    copied_plan(&scene.copied);
    set_dead(&scene, 4, 0);
    place_scene(&scene, 4);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        scene.begun.registers[RBP] = others[i];
        run_again(&scene);
        assert_slow(&scene, FRAME_SITE_RBP, 0);
    }
    copied_end(&scene.copied);
}

static void test_a_frame_as_large_as_can_be(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    scene.copied.slot.offset = 0x3000;
    ADD(&scene.copied, 0, CALLER_OF_40);
    ADD(&scene.copied, 0x40, NO_LEAF);
    copied_plan(&scene.copied);
    set_dead(&scene, 4, 0);
    place_scene(&scene, 4);
    set_link(&scene, -10);
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(own_links()->links[0].word, -9);
    copied_end(&scene.copied);
}

/* --- Many calls --- */

#define MANY    97 /* the last one is in the second chunk */
#define MANY_AT 0x1f0

static void begin_many(struct scene *scene)
{
    char calls[5 * MANY + 1];

    begin_scene(scene);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t distance = MANY_AT - 5 * (i + 1);

        calls[5 * i] = (char)0xe8;
        memcpy(calls + 5 * i + 1, &distance, sizeof(distance));
    }
    calls[5 * MANY] = (char)0xc3;
    copied_add(&scene->copied, 0, calls, sizeof(calls));
    ADD(&scene->copied, MANY_AT, NO_LEAF);
    copied_plan(&scene->copied);
    set_dead(scene, 0, 0);
    put_image(scene);
}

/* The link of that number, in the context of a caller with two chunks; *chunk leads to its own. */
static struct trace_link *link_of_many(uint32_t number, uint64_t **chunk, uint64_t *there)
{
    static uint64_t none;
    uint32_t behind = number - TRACE_LINKS_INLINE, which = behind / TRACE_LINKS_CHUNK;

    *chunk = &none;
    if (number < TRACE_LINKS_INLINE)
        return &own_links()->links[number];
    *there = CHUNK + 0x1000 * which;
    *chunk = (uint64_t *)&own_links()->links[TRACE_LINKS_INLINE] + which;
    return &((struct trace_links *)*there)->links[behind % TRACE_LINKS_CHUNK];
}

static void assert_has_link(struct scene *scene, uint32_t number)
{
    uint64_t *chunk, there = 0;
    struct trace_link *link = link_of_many(number, &chunk, &there);

    stand_at(scene, 5 * number);
    put_context(scene);
    scene->link = number;
    if (there) {
        run_until(scene->call);
        assert_slow(scene, 0, 0);
    }
    *chunk = there;
    *link = (struct trace_link){CALLEE + 16 * number, -3, 0};
    run_again(scene);
    assert_at_call(scene, 0);
    assert_int_equal(link->word, -2);
    assert_int_equal(*shadow(POINTER - 8), CALLEE + 16 * number);
    link->word = -1;
    run_again(scene);
    assert_slow(scene, 0, 0);
    assert_int_equal(link->word, -1);
    memset(link, 0, sizeof(*link));
    *chunk = 0;
}

static void test_each_call_has_a_link_of_its_own(void **state)
{
    struct scene scene;

    (void)state;
    begin_many(&scene);
    assert_int_equal(key_of(&scene, 0)->links, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_has_link(&scene, i);
    copied_end(&scene.copied);
}

/* --- Jumps that leave --- */

static void assert_jumps(struct scene *scene)
{
    set_link(scene, -10);
    run_until(scene->call);
    assert_at_call(scene, 0);
    assert_int_equal(own_links()->links[scene->link].word, -9);
    assert_int_equal(*shadow(POINTER), CALLEE);
    run_until(body_of(scene, 1));
    assert_kept(scene, 0, 0);
    *shadow(POINTER) = OWN;
    set_link(scene, -1);
    run_again(scene);
    assert_slow(scene, FRAME_SITE_TAIL, 0);
    assert_int_equal(own_links()->links[scene->link].word, -1);
    assert_int_equal(*shadow(POINTER), OWN);
}

static void test_a_tail_call_gives_its_frame_to_the_callee(void **state)
{
    struct scene scene;

    (void)state;
    begin_jump(&scene, 8);
    scene.link = 1;
    assert_jumps(&scene);
    copied_end(&scene.copied);
}

static void test_a_conditional_tail_call_counts_only_if_it_is_one(void **state)
{
    struct scene scene;

    (void)state;
    begin_jump(&scene, 2);
    assert_jumps(&scene);
    set_link(&scene, -10);
    machine = scene.begun;
    machine.is_zero = false;
    run_until(copy_at(&scene.copied, 4));
    assert_int_equal(machine.rip, copy_at(&scene.copied, 4));
    assert_int_equal(machine.steps, 0);
    assert_kept(&scene, 0, 0);
    assert_int_equal(own_links()->links[0].word, -10);
    copied_end(&scene.copied);
}

/* --- Calls out of copies --- */

static void test_a_call_out_leaves_a_note(void **state)
{
    struct scene scene;

    (void)state;
    begin_call_out(&scene);
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(*shadow(POINTER - 8), OWN | FRAME_CALLED_OUT);
    assert_int_equal(words.note, POINTER);
    assert_int_equal(key_of(&scene, 0)->links, 0);
    run_until(BASE + 0x40);
    assert_int_equal(*word(machine.registers[RSP]), scene.call + 5);
    *shadow(scene.own) = 0;
    words.note = 1;
    run_again(&scene);
    assert_slow(&scene, FRAME_SITE_OUT, 0);
    assert_int_equal(words.note, 1);
    copied_end(&scene.copied);
}

static void test_a_jump_out_leaves_a_note_at_its_own_slot(void **state)
{
    struct scene scene;

    (void)state;
    begin_jump_out(&scene);
    run_until(scene.call);
    assert_at_call(&scene, 0);
    assert_int_equal(*shadow(POINTER), OWN | FRAME_JUMPED_OUT);
    assert_int_equal(words.note, POINTER + 8);
    run_again(&scene); /* the word is of no context now */
    assert_int_equal(machine.rip, SLOW);
    copied_end(&scene.copied);
}

/* --- Names that the loader binds --- */

#define SLOT (TABLE + 8)

static uint64_t begin_bound(struct scene *scene, const char *code, size_t size, uint64_t call,
                            bool has_stub)
{
    begin_scene(scene);
    copied_add(&scene->copied, 0, code, size);
    ADD(&scene->copied, 0x40, NO_LEAF);
    if (has_stub) /* jmp [SLOT] */
        memcpy(scene->copied.bytes + 0x80, "\xff\x25\x82\x6f\x00\x00\x0f\x1f", 8);
    scene->copied.source.imports = memory_zeroed(1, sizeof(*scene->copied.source.imports));
    scene->copied.source.imports[0] = (struct flow_import){.slot = SLOT, .target = BASE + 0x40};
    scene->copied.source.import_count = 1;
    copied_plan(&scene->copied);
    assert_true(copy_plan_has(&scene->copied.plan, 0));
    set_dead(scene, call, has_stub ? 0 : ONLY_R11);
    place_scene(scene, call);
    set_link(scene, -10);
    *word(SLOT) = ELSEWHERE; /* the first call made sure that it leads to the function at 0x40 */
    return body_of(scene, 1);
}

static void assert_bound(struct scene *scene, uint64_t callee)
{
    const struct frame_bound_site *bound;

    run_until(scene->call);
    assert_at_call(scene, ONLY_R11);
    assert_int_equal(machine.registers[R11], callee);
    assert_int_equal(own_links()->links[0].word, -9);
    assert_int_equal(*shadow(POINTER - 8), CALLEE);
    assert_int_equal(words.note, 1);
    run_until(callee);
    assert_int_equal(*word(machine.registers[RSP]), scene->call + 3);
    set_link(scene, 0);
    run_again(scene);
    assert_slow(scene, FRAME_SITE_BOUND, ONLY_R11);
    assert_int_equal(machine.registers[R11], ELSEWHERE);
    bound = (const struct frame_bound_site *)*word(machine.registers[RSP]);
    assert_int_equal((uint64_t)bound + (uint64_t)bound->slot, SLOT);
    assert_int_equal((uint64_t)(bound + 1) + (uint64_t)bound->copy, callee);
    *word(WORD(frames)) = 0;
    run_again(scene);
    assert_at_call(scene, ONLY_R11);
    assert_int_equal(machine.registers[R11], ELSEWHERE);
}

#define CALLER_OF_80   "\x48\x83\xec\x08\xe8\x77\x00\x00\x00\x48\x83\xc4\x08\xc3"
#define CALLER_BY_SLOT "\x48\x83\xec\x08\xff\x15\xfe\x6f\x00\x00\x48\x83\xc4\x08\xc3"

static void test_a_call_through_a_stub_of_the_linker(void **state)
{
    struct scene scene;
    uint64_t callee;

    (void)state;
    callee = begin_bound(&scene, CALLER_OF_80, sizeof(CALLER_OF_80) - 1, 4, true);
    assert_bound(&scene, callee);
    copied_end(&scene.copied);
}

static void test_a_call_through_a_slot_of_the_loader(void **state)
{
    struct scene scene;
    uint64_t callee;

    (void)state;
    callee = begin_bound(&scene, CALLER_BY_SLOT, sizeof(CALLER_BY_SLOT) - 1, 4, false);
    assert_bound(&scene, callee);
    copied_end(&scene.copied);
}

/* --- Keys --- */

static void test_keys(void **state)
{
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    for (uint32_t i = 0; i < 2; i++) {
        const struct frame_key *key = key_of(&scene, i);
        uint64_t body = STUBS + scene.copied.functions.items[i].body;

        assert_int_equal((uint64_t)key + (uint64_t)key->header, IMAGE);
        assert_int_equal(key->index, i);
        assert_int_equal((uint64_t)key + (uint64_t)key->body, body);
        assert_int_equal(key->links, i == 0);
        assert_int_equal(*(uint16_t *)body, FRAME_BODY_JUMP);
        assert_int_equal(lead(&scene.copied, body + 1, 5), body_of(&scene, i));
    }
    assert_int_not_equal(key_of(&scene, 0)->key, key_of(&scene, 1)->key);
    copied_end(&scene.copied);
}

static void test_functions_that_share_code_share_their_links(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    scene.copied.slot.offset = 0;
    ADD(&scene.copied, 0, "\xe8\x7b\x00\x00\x00\x31\xc0\xeb\x3c"); /* call 0x80; …; jmp 0x45 */
    ADD(&scene.copied, 0x40, "\xe8\x3b\x00\x00\x00\xe8\x36\x00\x00\x00\xc3"); /* twice 0x80 */
    ADD(&scene.copied, 0x80, NO_LEAF);
    copied_plan(&scene.copied);
    put_image(&scene);
    assert_int_equal(key_of(&scene, 0)->key, key_of(&scene, 1)->key);
    assert_int_not_equal(key_of(&scene, 0)->key, key_of(&scene, 2)->key);
    assert_int_equal(key_of(&scene, 0)->links, 3);
    assert_int_equal(key_of(&scene, 1)->links, 3);
    stand_at(&scene, 0x45);
    scene.caller = 1;
    scene.link = 2;
    put_context(&scene);
    set_link(&scene, 0);
    run_until(scene.call);
    assert_slow(&scene, 0, 0x0fc7);
    copied_end(&scene.copied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_is_counted_and_the_callee_has_its_context),
        cmocka_unit_test(test_registers_are_kept_unless_they_are_dead),
        cmocka_unit_test(test_nothing_is_done_while_nothing_is_recorded),
        cmocka_unit_test(test_what_is_not_as_usual_takes_the_slow_path),
        cmocka_unit_test(test_the_stack_has_two_ends),
        cmocka_unit_test(test_a_link_counts_as_long_as_it_is_negative),
        cmocka_unit_test(test_a_call_of_a_leaf_is_a_count_alone),
        cmocka_unit_test(test_a_frame_by_rbp),
        cmocka_unit_test(test_a_frame_by_rbp_on_another_stack),
        cmocka_unit_test(test_a_frame_as_large_as_can_be),
        cmocka_unit_test(test_each_call_has_a_link_of_its_own),
        cmocka_unit_test(test_a_tail_call_gives_its_frame_to_the_callee),
        cmocka_unit_test(test_a_conditional_tail_call_counts_only_if_it_is_one),
        cmocka_unit_test(test_a_call_out_leaves_a_note),
        cmocka_unit_test(test_a_jump_out_leaves_a_note_at_its_own_slot),
        cmocka_unit_test(test_a_call_through_a_stub_of_the_linker),
        cmocka_unit_test(test_a_call_through_a_slot_of_the_loader),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_functions_that_share_code_share_their_links),
    };

    return cmocka_run_group_tests_name("frame_code", tests, site_machine_prepare, NULL);
}
