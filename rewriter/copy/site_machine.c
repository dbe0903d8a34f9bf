#include "rewriter/copy/site_machine.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "support/memory.h"

#include <cmocka.h>

#define TRAP_FLAG  0x100
#define ZERO_FLAG  0x40
#define MOST_STEPS 100000

static const int gregs[REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};
struct machine machine;
static gregset_t host;
static bool is_running;

_Thread_local struct frame_words words;

uint64_t *word(uint64_t address)
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
        memcpy(host, now, sizeof(host));
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
    memcpy(now, host, sizeof(host));
}

/* On to an address, or to the slow path. */
void run_until(uint64_t until)
{
    machine.until = until;
    machine.steps = 0;
    __asm__ volatile("int3" ::: "memory");
    assert_true(machine.steps < MOST_STEPS);
}

uint64_t *shadow(uint64_t slot)
{
    return word(slot - STACK + SHADOW);
}

uint64_t from_thread_pointer(const void *address)
{
    return (uint64_t)address - (uint64_t)__builtin_thread_pointer();
}

void begin_scene(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    copied_begin(&scene->copied);
    scene->copied.plan.salt = 0x5a17;
    scene->copied.slot.offset = 24;
}

/* All registers are alive in front of calls, but for these. */
void set_dead(struct scene *scene, uint64_t offset, uint16_t dead)
{
    struct flow_registers *registers = &scene->copied.plan.registers;

    flow_registers_free(registers);
    *registers = (struct flow_registers){.base = BASE, .count = 1, .room = 1};
    registers->sites = memory_zeroed(1, sizeof(*registers->sites));
    registers->sites[0] = (struct flow_register_site){(uint32_t)offset, dead, dead};
}

const struct frame_key *key_of(const struct scene *scene, uint32_t function)
{
    const struct copy *copy = copy_set_of(&scene->copied.set, function);

    assert_non_null(copy);
    return (const struct frame_key *)(copy->address + copy->body - sizeof(struct frame_key));
}

uint64_t body_of(const struct scene *scene, uint32_t function)
{
    return (uint64_t)key_of(scene, function) + sizeof(struct frame_key);
}

/* The image, as the loader would put it there, and the page of the hook word. */
void put_image(struct scene *scene)
{
    memset((void *)(uintptr_t)PLACE, 0, PLACE_SIZE);
    copied_store(&scene->copied);
    memcpy((void *)(uintptr_t)BASE, scene->copied.bytes, SIZE);
    memcpy((void *)(uintptr_t)TABLE, scene->copied.data, sizeof(scene->copied.data));
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
uint64_t behind_restores(uint64_t at)
{
    while (*(const uint8_t *)(at + 1) == 0x8b && *(const uint8_t *)(at + 3) == 0x24)
        at += 5;
    return at;
}

/* What stands in front of the call at an offset: behind a load of r11, if it goes by a pointer. */
void find_site(struct scene *scene, uint64_t offset)
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

struct trace_links *own_links(void)
{
    return (struct trace_links *)(uintptr_t)OWN;
}

/* The caller's context, with a link of which nothing is counted yet. */
void put_context(const struct scene *scene)
{
    struct trace_links *links = own_links();

    links->key = key_of(scene, scene->caller)->key;
    links->node = 1;
    *shadow(scene->own) = OWN;
}

void set_link(const struct scene *scene, int32_t count)
{
    own_links()->links[scene->link] = (struct trace_link){CALLEE, count, 0};
}

/* The machine is in front of the call at an offset of the caller. */
void stand_at(struct scene *scene, uint64_t offset)
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

void place_scene(struct scene *scene, uint64_t offset)
{
    put_image(scene);
    stand_at(scene, offset);
    put_context(scene);
}

/* All registers but those of a set are what they were, the stack pointer `lower` bytes lower. */
void assert_kept(const struct scene *scene, uint16_t dead, uint64_t lower)
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
void assert_slow(const struct scene *scene, uint8_t flags, uint16_t dead)
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

void run_again(struct scene *scene)
{
    memset((void *)(uintptr_t)STACK, 0x77, STACK_SIZE);
    machine = scene->begun;
    run_until(scene->call);
}

void assert_at_call(const struct scene *scene, uint16_t dead)
{
    assert_int_equal(machine.rip, scene->call);
    assert_kept(scene, dead, 0);
}

void begin_call(struct scene *scene, uint16_t dead)
{
    begin_scene(scene);
    ADD(&scene->copied, 0, CALLER_OF_40);
    ADD(&scene->copied, 0x40, NO_LEAF);
    copied_plan(&scene->copied);
    set_dead(scene, 4, dead);
    place_scene(scene, 4);
    set_link(scene, -10);
}

void begin_call_out(struct scene *scene)
{
    begin_scene(scene);
    ADD(&scene->copied, 0, CALLER_OF_40);
    ADD(&scene->copied, 0x40, "\xc3"); /* too short for a hook */
    copied_plan(&scene->copied);
    assert_false(copy_plan_has(&scene->copied.plan, 1));
    set_dead(scene, 4, 0);
    place_scene(scene, 4);
}

void begin_jump_out(struct scene *scene)
{
    begin_scene(scene);
    scene->copied.slot.offset = 0;
    ADD(&scene->copied, 0, JUMPS_TO_40);
    ADD(&scene->copied, 0x40, "\xc3");
    copied_plan(&scene->copied);
    set_dead(scene, 8, 0);
    place_scene(scene, 8);
}

void begin_jump(struct scene *scene, uint64_t offset)
{
    begin_scene(scene);
    scene->copied.slot.offset = 0;
    ADD(&scene->copied, 0, JUMPS_TO_40);
    ADD(&scene->copied, 0x40, NO_LEAF);
    copied_plan(&scene->copied);
    set_dead(scene, offset, 0);
    place_scene(scene, offset);
}

struct pointer_links *begin_pointer(struct scene *scene, uint16_t dead)
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

int site_machine_prepare(void **state)
{
    static char alternate[1 << 16];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    (void)state;
    if (mmap((void *)(uintptr_t)PLACE, PLACE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)(uintptr_t)PLACE)
        return 1;
    return sigaltstack(&stack, NULL) < 0 || sigaction(SIGTRAP, &action, NULL) < 0;
}
