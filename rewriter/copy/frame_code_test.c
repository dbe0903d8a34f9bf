/*
 * What stands in front of calls in copies, run one instruction at a time: a small image is put
 * where it says that it is, between a stack with its shadow and a few contexts made by hand.
 */
#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_sample.h"
#include "support/memory.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#define TRAP_FLAG  0x100
#define ZERO_FLAG  0x40
#define MOST_STEPS 200

/* Addresses between those of the image and its end. */
#define PLACE      0x20000000u
#define PLACE_SIZE 0x400000u
#define OWN        0x20300000u /* the caller's links */
#define CALLEE     0x20310000u /* the callee's */
#define OTHER      0x20318000u /* those of another */
#define CHUNK      0x20320000u
#define STACK      0x20330000u
#define STACK_SIZE 0x8000u
#define SHADOW     0x20340000u
#define SLOW       0x20350000u /* the agent's slow path */
#define OUTSIDE    0x20351000u /* code of another image */
#define ELSEWHERE  0x20352000u
#define POINTER    (STACK + 0x4000u)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, REGISTERS };

static const int gregs[REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};

/* What runs, an instruction at a time. */
struct machine {
    uint64_t registers[REGISTERS], rip;
    bool is_zero; /* the flag */
    uint64_t until;
    unsigned steps, pause_at; /* pause_at: recording is paused after so many steps; 0: it is not */
};
static struct machine machine;
static gregset_t host;
static bool is_running;

static _Thread_local struct frame_words words;
static _Thread_local uint64_t thread_pointer_word;

static uint64_t *word(uint64_t address)
{
    return (uint64_t *)address;
}

static void load(greg_t *into)
{
    for (int i = 0; i < REGISTERS; i++)
        into[gregs[i]] = (greg_t)machine.registers[i];
    into[REG_RIP] = (greg_t)machine.rip;
    into[REG_EFL] = TRAP_FLAG | 2 | (machine.is_zero ? ZERO_FLAG : 0);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    greg_t *now = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number, (void)info;
    if (!is_running) {
        memcpy(host, now, sizeof host);
        is_running = true;
        load(now);
        return;
    }
    for (int i = 0; i < REGISTERS; i++)
        machine.registers[i] = (uint64_t)now[gregs[i]];
    machine.rip = (uint64_t)now[REG_RIP];
    if (machine.pause_at && machine.steps + 1 == machine.pause_at)
        *word(WORD(frames)) = 0;
    if (machine.rip != machine.until && machine.rip != SLOW && ++machine.steps < MOST_STEPS)
        return;
    is_running = false;
    memcpy(now, host, sizeof host);
}

/* On to an address, or to the slow path. */
static void run_until(uint64_t until)
{
    machine.until = until;
    machine.steps = 0;
    __asm__ volatile("int3" ::: "memory");
    assert_true(machine.steps < MOST_STEPS);
}

static uint64_t *shadow(uint64_t slot)
{
    return word(slot - STACK + SHADOW);
}

static uint64_t from_thread_pointer(const void *address)
{
    return (uint64_t)address - (uint64_t)__builtin_thread_pointer();
}

/* One call, and what the image says of it. */
struct scene {
    struct copied copied;
    uint32_t caller;     /* its place in the list */
    uint64_t site, call; /* addresses: of what stands in front of the call, of the call */
    uint64_t back;       /* of where it goes on with nothing done */
    uint64_t own;        /* the slot of the caller's return address */
    uint32_t link;
    struct machine begun;
};

static void begin_scene(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    copied_begin(&scene->copied);
    scene->copied.plan.salt = 0x5a17;
    scene->copied.slot.offset = 24;
}

/* All registers are alive in front of calls, but for these. */
static void set_dead(struct scene *scene, uint64_t offset, uint16_t dead)
{
    struct flow_registers *registers = &scene->copied.plan.registers;

    flow_registers_free(registers);
    *registers = (struct flow_registers){.base = BASE, .count = 1, .room = 1};
    registers->sites = memory_zeroed(1, sizeof *registers->sites);
    registers->sites[0] = (struct flow_register_site){(uint32_t)offset, dead, dead};
}

static const struct frame_key *key_of(const struct scene *scene, uint32_t function)
{
    const struct copy *copy = copy_set_of(&scene->copied.set, function);

    assert_non_null(copy);
    return (const struct frame_key *)(copy->address + copy->body - FRAME_KEY_SIZE);
}

static uint64_t body_of(const struct scene *scene, uint32_t function)
{
    return (uint64_t)key_of(scene, function) + FRAME_KEY_SIZE;
}

/* The image, as the loader would put it there, and the page of the hook word. */
static void put_image(struct scene *scene)
{
    memset((void *)(uintptr_t)PLACE, 0, PLACE_SIZE);
    copied_store(&scene->copied);
    memcpy((void *)(uintptr_t)BASE, scene->copied.bytes, SIZE);
    memcpy((void *)(uintptr_t)TABLE, scene->copied.data, sizeof scene->copied.data);
    memcpy((void *)(uintptr_t)STUBS, scene->copied.stubs.code.bytes, scene->copied.stubs.code.size);
    *word(WORD(on_site)) = SLOW;
    *word(WORD(words)) = *word(WORD(frames)) = from_thread_pointer(&words);
    words = (struct frame_words){.low = STACK, .size = STACK_SIZE, .shadow = SHADOW, .note = 1};
}

static bool loads_words(uint64_t at)
{
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)at;

    return bytes[1] == 0x8b && (bytes[2] & 0xc7) == 0x05 &&
           at + 7 + (uint64_t)(int64_t) * (const int32_t *)(bytes + 3) == WORD(frames);
}

/* Behind what loads registers that were saved. */
static uint64_t behind_restores(uint64_t at)
{
    while (*(const uint8_t *)(at + 1) == 0x8b && *(const uint8_t *)(at + 3) == 0x24)
        at += 5;
    return at;
}

/* What stands in front of the call at an offset: behind a load of r11, if it goes by a pointer. */
static void find_site(struct scene *scene, uint64_t offset)
{
    uint64_t at = copy_at(&scene->copied, offset);

    scene->site = at;
    while (!loads_words(at))
        assert_true(++at < scene->site + 34);
    at += 7 + 3; /* test */
    scene->back = *(const uint8_t *)at == 0x74 ? at + 2 + *(const uint8_t *)(at + 1)
                                               : lead(&scene->copied, at, 6);
    scene->call = behind_restores(scene->back);
}

static struct trace_links *own_links(void)
{
    return (struct trace_links *)(uintptr_t)OWN;
}

/* The caller's context, with a link of which nothing is counted yet. */
static void put_context(const struct scene *scene)
{
    struct trace_links *links = own_links();

    links->key = key_of(scene, scene->caller)->key;
    links->node = 1;
    *shadow(scene->own) = OWN;
}

static void set_link(const struct scene *scene, int32_t count)
{
    own_links()->links[scene->link] = (struct trace_link){CALLEE, count, 0};
}

/* The machine is in front of the call at an offset of the caller. */
static void stand_at(struct scene *scene, uint64_t offset)
{
    find_site(scene, offset);
    machine.pause_at = 0;
    for (uint64_t i = 0; i < REGISTERS; i++)
        machine.registers[i] = 0x1111111111111111u * i + 0x0f00;
    machine.registers[RSP] = POINTER;
    machine.registers[RBP] = POINTER + 0x100;
    machine.rip = scene->site;
    machine.is_zero = true;
    memset((void *)(uintptr_t)STACK, 0x77, STACK_SIZE);
    scene->own = (scene->copied.slot.base == RETURN_SLOT_RBP ? POINTER + 0x100 : POINTER) +
                 (uint64_t)scene->copied.slot.offset;
    scene->begun = machine;
}

static void place_scene(struct scene *scene, uint64_t offset)
{
    put_image(scene);
    stand_at(scene, offset);
    put_context(scene);
}

/* All registers but those of a set are what they were, the stack pointer `lower` bytes lower. */
static void assert_kept(const struct scene *scene, uint16_t dead, uint64_t lower)
{
    for (int i = 0; i < REGISTERS; i++)
        if (i == RSP)
            assert_int_equal(machine.registers[i], scene->begun.registers[i] - lower);
        else if (!(dead >> i & 1))
            assert_int_equal(machine.registers[i], scene->begun.registers[i]);
    for (uint64_t at = POINTER; at < STACK + STACK_SIZE; at += sizeof(uint64_t))
        assert_int_equal(*word(at), 0x7777777777777777);
}

/* It went to the slow path, which is told of this call. */
static void assert_slow(const struct scene *scene, uint8_t flags, uint16_t dead)
{
    const struct frame_site *site;

    assert_int_equal(machine.rip, SLOW);
    assert_kept(scene, dead, sizeof(uint64_t));
    site = (const struct frame_site *)*word(machine.registers[RSP]);
    assert_int_equal((uint64_t)site + (uint64_t)site->call, scene->call);
    assert_int_equal(site->own, scene->copied.slot.offset);
    assert_int_equal((uint64_t)site + (uint64_t)site->self, (uint64_t)key_of(scene, scene->caller));
    if (!(flags & FRAME_SITE_OUT) || flags & FRAME_SITE_POINTER)
        assert_int_equal(site->link, scene->link);
    assert_int_equal(site->flags, flags);
}

static void run_again(struct scene *scene)
{
    memset((void *)(uintptr_t)STACK, 0x77, STACK_SIZE);
    machine = scene->begun;
    run_until(scene->call);
}

static void assert_at_call(const struct scene *scene, uint16_t dead)
{
    assert_int_equal(machine.rip, scene->call);
    assert_kept(scene, dead, 0);
}

/* --- Calls of copies --- */

#define CALLER_OF_40 "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\x48\x83\xc4\x08\xc3" /* call at 4 */
#define NO_LEAF      "\x31\xc0\x0f\xa2\x31\xc0\x31\xd2\xc3"
#define LEAF         "\x8d\x04\x37\x8d\x44\xc0\x08\xc3"

static void begin_call(struct scene *scene, uint16_t dead)
{
    begin_scene(scene);
    ADD(&scene->copied, 0, CALLER_OF_40);
    ADD(&scene->copied, 0x40, NO_LEAF);
    copied_plan(&scene->copied);
    set_dead(scene, 4, dead);
    place_scene(scene, 4);
    set_link(scene, -10);
}

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
    for (size_t i = 0; i < sizeof may_die; i++)
        for (size_t j = i; j < sizeof may_die; j++)
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
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
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
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
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
        memcpy(calls + 5 * i + 1, &distance, sizeof distance);
    }
    calls[5 * MANY] = (char)0xc3;
    copied_add(&scene->copied, 0, calls, sizeof calls);
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
    memset(link, 0, sizeof *link);
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

/* test edi, edi; je 0x40; inc edi; add edi, edi; jmp 0x40 */
#define JUMPS_TO_40 "\x85\xff\x74\x3c\xff\xc7\x01\xff\xeb\x36"

static void begin_jump(struct scene *scene, uint64_t offset)
{
    begin_scene(scene);
    scene->copied.slot.offset = 0;
    ADD(&scene->copied, 0, JUMPS_TO_40);
    ADD(&scene->copied, 0x40, NO_LEAF);
    copied_plan(&scene->copied);
    set_dead(scene, offset, 0);
    place_scene(scene, offset);
}

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

static void begin_call_out(struct scene *scene)
{
    begin_scene(scene);
    ADD(&scene->copied, 0, CALLER_OF_40);
    ADD(&scene->copied, 0x40, "\xc3"); /* too short for a hook */
    copied_plan(&scene->copied);
    assert_false(copy_plan_has(&scene->copied.plan, 1));
    set_dead(scene, 4, 0);
    place_scene(scene, 4);
}

static void begin_jump_out(struct scene *scene)
{
    begin_scene(scene);
    scene->copied.slot.offset = 0;
    ADD(&scene->copied, 0, JUMPS_TO_40);
    ADD(&scene->copied, 0x40, "\xc3");
    copied_plan(&scene->copied);
    set_dead(scene, 8, 0);
    place_scene(scene, 8);
}

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

/* --- Calls by pointers --- */

struct pointer_links {
    uint64_t targets[2];
    struct trace_link links[2];
    uint64_t go[2];
};

/* A caller of 0x40, and then by a pointer. */
static struct pointer_links *begin_pointer(struct scene *scene, uint16_t dead)
{
    struct pointer_links *links = (struct pointer_links *)&own_links()->links[POINTER_LINKS];

    begin_scene(scene);
    /* sub rsp, 8; call 0x40; call rax; add rsp, 8; ret */
    ADD(&scene->copied, 0, "\x48\x83\xec\x08\xe8\x37\x00\x00\x00\xff\xd0\x48\x83\xc4\x08\xc3");
    ADD(&scene->copied, 0x40, NO_LEAF);
    copied_plan(&scene->copied);
    set_dead(scene, 9, dead | 1u << R11);
    place_scene(scene, 9);
    scene->link = POINTER_LINKS;
    scene->begun.registers[RAX] = ELSEWHERE;
    *links = (struct pointer_links){
        .targets = {OUTSIDE, ELSEWHERE},
        .links = {{CALLEE, -10, 0}, {OTHER, -20, 0}},
        .go = {OUTSIDE + 0x100, ELSEWHERE + 0x100},
    };
    return links;
}

#define BY_POINTER (FRAME_SITE_OUT | FRAME_SITE_POINTER)
#define ONLY_R11   (1u << R11)

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
    assert_memory_equal(links, &before, sizeof before);
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
    assert_memory_equal(links, &before, sizeof before);
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
    assert_memory_equal(links, &before, sizeof before);
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
    for (size_t i = 0; i < sizeof may_die; i++)
        for (size_t j = i; j < sizeof may_die; j++) {
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

        memcpy(before, control, sizeof before);
        *word(WORD(frames)) = frames;
        *shadow(scene->own) = OWN;
        scene->begun.pause_at = i;
        run_again(scene);
        scene->begun.pause_at = 0;
        assert_memory_equal(control, before, sizeof before);
        assert_at_call(scene, dead);
    }
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

#define OPERAND(call, expected) assert_operand(call, sizeof call - 1, expected)

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
    memcpy(of_thread + 4, &place, sizeof place);
    assert_operand(of_thread, sizeof of_thread, OUTSIDE + 300); /* fs:[…] */
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
    scene->copied.source.imports = memory_zeroed(1, sizeof *scene->copied.source.imports);
    scene->copied.source.imports[0] = (struct flow_pointer){SLOT, BASE + 0x40};
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
    callee = begin_bound(&scene, CALLER_OF_80, sizeof CALLER_OF_80 - 1, 4, true);
    assert_bound(&scene, callee);
    copied_end(&scene.copied);
}

static void test_a_call_through_a_slot_of_the_loader(void **state)
{
    struct scene scene;
    uint64_t callee;

    (void)state;
    callee = begin_bound(&scene, CALLER_BY_SLOT, sizeof CALLER_BY_SLOT - 1, 4, false);
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

/* --- As frame_code.h draws it --- */

/* Addresses that are known, in place of figures. */
static void name_address(char *text, size_t room, const struct scene *scene)
{
    const struct {
        uint64_t address;
        const char *name;
    } names[] = {
        {WORD(frames), "frames"},   {WORD(words), "words"},
        {WORD(on_site), "on_site"}, {scene->back, "back"},
        {scene->call, "call"},      {body_of(scene, scene->copied.functions.count > 1), "copy"}};
    char *figures = strstr(text, "0x0000000020");
    uint64_t address = figures ? strtoull(figures, NULL, 16) : 0;

    for (size_t i = 0; figures && i < sizeof names / sizeof *names; i++)
        if (names[i].address == address) {
            snprintf(figures, room - (size_t)(figures - text), "%s%s", names[i].name,
                     strchr(text, '[') ? "]" : "");
            return;
        }
    if (figures)
        snprintf(figures, room - (size_t)(figures - text), "slow");
}

static uint64_t put_line(char *line, size_t room, const struct scene *scene, uint64_t at)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction instruction;
    ZydisFormatter formatter;
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    assert_true(
        ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (void *)at, 15, &instruction, operands)));
    ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                    instruction.operand_count_visible, line, room, at, NULL);
    name_address(line, room, scene);
    return at + instruction.length;
}

/* What stands from an address on is this. */
static void assert_text(const struct scene *scene, uint64_t at, const char *const *lines)
{
    for (; *lines; lines++) {
        char line[128];

        at = put_line(line, sizeof line, scene, at);
        assert_string_equal(line, *lines);
    }
}

/* Prints it, if SHOW is set in the environment, as these tests have it. */
static void show(const struct scene *scene, uint64_t at, uint64_t end)
{
    while (getenv("SHOW") && at < end) {
        char line[128];

        at = put_line(line, sizeof line, scene, at);
        printf("        \"%s\",\n", line);
    }
}

static void test_the_text_of_a_call(void **state)
{
    static const char *const lines[] = {
        "mov [rsp-0x18], r11",
        "mov [rsp-0x20], r10",
        "mov r10, [frames]",
        "test r10, r10",
        "jz back",
        "mov r11, rsp",
        "sub r11, fs:[r10]",
        "cmp r11, fs:[r10+0x08]",
        "jnb slow",
        "add r11, fs:[r10+0x10]",
        "mov r10, [r11+0x18]",
        "test r10, r10",
        "jz slow",
        "cmp dword ptr [r10], 0x1685C",
        "jnz slow",
        "inc [r10+0x28]",
        "jns slow",
        "mov r10, [r10+0x20]",
        "mov [r11-0x08], r10",
        "mov r10, [rsp-0x20]",
        "mov r11, [rsp-0x18]",
        "call copy",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    show(&scene, scene.site, scene.call + 5);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

static void test_the_text_of_a_call_of_a_leaf(void **state)
{
    static const char *const lines[] = {
        "mov rcx, [frames]",
        "test rcx, rcx",
        "jz back",
        "mov r8, rsp",
        "sub r8, fs:[rcx]",
        "cmp r8, fs:[rcx+0x08]",
        "jnb slow",
        "add r8, fs:[rcx+0x10]",
        "mov rcx, [r8+0x18]",
        "test rcx, rcx",
        "jz slow",
        "cmp dword ptr [rcx], 0x1685C",
        "jnz slow",
        "inc [rcx+0x28]",
        "jns slow",
        "call copy",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    ADD(&scene.copied, 0, CALLER_OF_40);
    ADD(&scene.copied, 0x40, LEAF);
    copied_plan(&scene.copied);
    set_dead(&scene, 4, 1u << RCX | 1u << R8);
    place_scene(&scene, 4);
    show(&scene, scene.site, scene.call + 5);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

static void test_the_text_of_a_jump(void **state)
{
    static const char *const lines[] = {
        "mov [rsp-0x18], r11",
        "mov [rsp-0x20], r10",
        "mov r10, [frames]",
        "test r10, r10",
        "jz back",
        "mov r11, rsp",
        "sub r11, fs:[r10]",
        "cmp r11, fs:[r10+0x08]",
        "jnb slow",
        "add r11, fs:[r10+0x10]",
        "mov r10, [r11]",
        "test r10, r10",
        "jz slow",
        "cmp dword ptr [r10], 0x1685C",
        "jnz slow",
        "inc [r10+0x38]",
        "jns slow",
        "mov r10, [r10+0x30]",
        "mov [r11], r10",
        "mov r10, [rsp-0x20]",
        "mov r11, [rsp-0x18]",
        "jmp copy",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_jump(&scene, 8);
    show(&scene, scene.site, scene.call + 5);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

static void test_the_text_of_a_call_by_a_pointer(void **state)
{
    static const char *const lines[] = {
        "mov r11, rax",
        "mov [rsp-0x18], r10",
        "mov [rsp-0x20], r9",
        "mov r9, [frames]",
        "test r9, r9",
        "jz back",
        "mov r10, rsp",
        "sub r10, fs:[r9]",
        "cmp r10, fs:[r9+0x08]",
        "jnb slow",
        "add r10, fs:[r9+0x10]",
        "mov r9, [r10+0x18]",
        "test r9, r9",
        "jz slow",
        "cmp dword ptr [r9], 0x1685C",
        "jnz slow",
        "cmp r11, [r9+0x60]",
        "jnz slow",
        "inc [r9+0x78]",
        "jns slow",
        "mov r11, [r9+0x70]",
        "mov [r10-0x08], r11",
        "mov r11, [r9+0x90]",
        "mov r9, [words]",
        "mov fs:[r9+0x18], rsp",
        "mov r9, [rsp-0x20]",
        "mov r10, [rsp-0x18]",
        "call r11",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_pointer(&scene, 1u << R11);
    show(&scene, scene.site, scene.call + 3);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

/* --- All of it --- */

static int prepare(void **state)
{
    static char alternate[1 << 16];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    (void)state;
    if (mmap((void *)(uintptr_t)PLACE, PLACE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)(uintptr_t)PLACE)
        return 1;
    return sigaltstack(&stack, NULL) < 0 || sigaction(SIGTRAP, &action, NULL) < 0;
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
        cmocka_unit_test(test_a_call_by_a_pointer_knows_two_targets),
        cmocka_unit_test(test_a_third_target_is_told_who_calls),
        cmocka_unit_test(test_third_targets_take_the_slow_path_at_times),
        cmocka_unit_test(test_a_target_for_which_there_is_room_takes_the_slow_path),
        cmocka_unit_test(test_a_call_by_a_pointer_out_of_no_context),
        cmocka_unit_test(test_registers_of_calls_by_pointers),
        cmocka_unit_test(test_a_jump_by_a_pointer),
        cmocka_unit_test(test_a_pause_amid_a_site),
        cmocka_unit_test(test_a_call_by_a_pointer_while_r11_is_alive),
        cmocka_unit_test(test_operands_of_calls_by_pointers),
        cmocka_unit_test(test_a_call_through_a_stub_of_the_linker),
        cmocka_unit_test(test_a_call_through_a_slot_of_the_loader),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_functions_that_share_code_share_their_links),
        cmocka_unit_test(test_the_text_of_a_call),
        cmocka_unit_test(test_the_text_of_a_call_of_a_leaf),
        cmocka_unit_test(test_the_text_of_a_jump),
        cmocka_unit_test(test_the_text_of_a_call_by_a_pointer),
    };

    return cmocka_run_group_tests_name("frame_code", tests, prepare, NULL);
}
