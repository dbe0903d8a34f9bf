/*
 * Instructions that copies count, beside those that are executed: functions made at random are
 * stepped through, and then their copies run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rewriter/copy/copy_count.h"
#include "rewriter/copy/site_machine.h"
#include "rewriter/flow/flow_flags.h"

#include <cmocka.h>

#define PROGRAMS    1000
#define BLOCKS      16
#define MOST_BYTES  500
#define MOST_ROUNDS 200 /* that a function's counter lets it go through loops */

static struct frame_counts *counts(void)
{
    return (struct frame_counts *)((uint64_t)__builtin_thread_pointer() + FRAME_COUNTS_AT);
}

static uint64_t held(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < FRAME_CELLS; i++) {
        sum += counts()->cells[i];
        counts()->cells[i] = 0;
    }
    return sum;
}

/* ---- functions that are known */

static void read_blocks(struct copied *copied, struct copy_count *count, uint32_t member)
{
    struct flow_fates fates;

    copied->plan.counts_instructions = true;
    copied_plan(copied);
    flow_fates_init(&fates, &copied->code);
    assert_true(copy_plan_has(&copied->plan, member));
    *count = (struct copy_count){0};
    copy_count_read(count, &copied->plan, &copied->patches, &fates, member);
    flow_fates_free(&fates);
}

static void one_way_adds_nothing(void **state)
{
    struct copied copied;
    struct copy_count count;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x31\xc0\xff\xc0\xff\xc0\xc3"); /* xor eax, eax; inc eax; inc eax; ret */
    read_blocks(&copied, &count, 0);
    assert_int_equal(count.count, 1);
    assert_int_equal(count.blocks[0].pending, 4);
    assert_int_equal(count.blocks[0].added, 0);
    assert_int_equal(count.blocks[0].held, 0);
    assert_int_equal(count.returned, 4);
    copy_count_free(&count);
    copied_end(&copied);
}

/* test edi, edi; je 8; inc eax; inc eax; 8: ret */
static void where_ways_meet_one_of_them_adds(void **state)
{
    struct copied copied;
    struct copy_count count;

    (void)state;
    copied_begin(&copied);
    ADD(&copied, 0, "\x85\xff\x74\x04\xff\xc0\xff\xc0\xc3");
    read_blocks(&copied, &count, 0);
    assert_int_equal(count.count, 3);
    assert_int_equal((count.blocks[0].added != 0) + (count.blocks[1].added != 0), 1);
    assert_int_equal(count.blocks[0].is_direct + count.blocks[1].is_direct, 1);
    assert_int_equal(count.blocks[2].held, 0);
    assert_int_equal(count.returned, count.blocks[2].pending);
    copy_count_free(&count);
    copied_end(&copied);
}

static void a_loop_adds_each_time(void **state)
{
    struct copied copied;
    struct copy_count count;

    (void)state;
    copied_begin(&copied);
    /* mov eax, 0; 5: inc eax; dec edi; jne 5; ret */
    ADD(&copied, 0, "\xb8\x00\x00\x00\x00\xff\xc0\xff\xcf\x75\xfa\xc3");
    read_blocks(&copied, &count, 0);
    assert_int_equal(count.count, 3);
    assert_int_equal(count.blocks[0].added, 0);
    assert_int_equal(count.blocks[1].added, 3);
    assert_int_equal(count.blocks[1].held, 1);
    assert_int_equal(count.blocks[2].held, 1);
    assert_int_equal(count.returned, 0);
    copy_count_free(&count);
    copied_end(&copied);
}

/* A function whose copy counts; false if it cannot be copied. */
static bool begin_counted(struct scene *scene, const char *bytes, size_t size)
{
    begin_scene(scene);
    scene->copied.slot.offset = 0;
    scene->copied.plan.counts_instructions = true;
    copied_add(&scene->copied, 0, bytes, size);
    copied_plan(&scene->copied);
    return copy_plan_has(&scene->copied.plan, 0);
}

/* Of a function without a context the agent is asked, below the red zone; then it goes on. */
static void what_adds_within_a_function_keeps_its_data(void **state)
{
    struct scene scene;
    const struct frame_site *site;

    (void)state;
    /* test edi, edi; je 8; inc eax; inc eax; 8: ret */
    assert_true(begin_counted(&scene, "\x85\xff\x74\x04\xff\xc0\xff\xc0\xc3", 9));
    put_image(&scene);
    held();
    *word(POINTER) = ELSEWHERE;
    machine = (struct machine){.rip = body_of(&scene, 0)};
    machine.registers[RSP] = POINTER;
    machine.registers[RDI] = 1;
    *shadow(POINTER) = 0;
    run_until(ELSEWHERE);
    assert_int_equal(machine.rip, SLOW);
    assert_int_equal(machine.registers[RSP], POINTER - 128 - sizeof(uint64_t));
    site = (const struct frame_site *)*word(machine.registers[RSP]);
    assert_int_equal(site->own, 128);
    assert_int_equal(site->flags, FRAME_SITE_OUT | FRAME_SITE_RETURN | FRAME_SITE_COUNTS);
    assert_int_equal((uint64_t)site + (uint64_t)site->self, (uint64_t)key_of(&scene, 0));
    assert_int_equal(held(), 2); /* that are behind the jump */
    machine.registers[RSP] += sizeof(uint64_t);
    machine.rip = (uint64_t)site + (uint64_t)site->call;
    run_until(ELSEWHERE);
    assert_int_equal(machine.rip, ELSEWHERE);
    assert_int_equal(machine.registers[RSP], POINTER + sizeof(uint64_t));
    assert_int_equal(machine.registers[RAX], 2);
    assert_int_equal(copy_set_of(&scene.copied.set, 0)->returned, 3);
    copied_end(&scene.copied);
}

/* ---- functions made at random */

/*
 * Blocks of a few instructions, each of which ends with a jump on a bit of edi, which is turned
 * each time, a jump, a return, or goes on. esi counts blocks down: at 0 the function returns.
 */
struct program {
    uint8_t bytes[MOST_BYTES];
    uint32_t size;
    uint32_t starts[BLOCKS + 1];
    struct {
        uint32_t field, block;
    } jumps[3 * BLOCKS];
    uint32_t jump_count;
};

static void put(struct program *program, const char *bytes, uint32_t size)
{
    memcpy(program->bytes + program->size, bytes, size);
    program->size += size;
}

static void put_jump(struct program *program, const char *opcode, uint32_t size, uint32_t block)
{
    put(program, opcode, size);
    program->jumps[program->jump_count].field = program->size;
    program->jumps[program->jump_count++].block = block;
    put(program, "\0\0\0\0", 4);
}

static void put_block(struct program *program, uint32_t block, uint32_t blocks)
{
    uint32_t target = (uint32_t)rand() % blocks;

    program->starts[block] = program->size;
    put(program, "\xff\xce", 2);              /* dec esi */
    put_jump(program, "\x0f\x88", 2, blocks); /* js: to the last one */
    for (int i = rand() % 3; i > 0; i--)
        put(program, "\xff\xc0", 2); /* inc eax */
    switch (rand() % 8) {
    case 0:
        put_jump(program, "\xe9", 1, target);
        break;
    case 1:
        put(program, "\xc3", 1);
        break;
    case 2:
    case 3:
        break;
    default:
        put(program, "\xd1\xcf", 2);              /* ror edi, 1 */
        put_jump(program, "\x0f\x82", 2, target); /* jc */
        if (rand() % 3 == 0)                      /* je: flags are alive where this block begins */
            put_jump(program, "\x0f\x84", 2, (uint32_t)rand() % blocks);
    }
}

static void make_program(struct program *program)
{
    uint32_t blocks = 1 + (uint32_t)rand() % (BLOCKS - 1);

    memset(program, 0, sizeof(*program));
    for (uint32_t i = 0; i < blocks; i++)
        put_block(program, i, blocks);
    program->starts[blocks] = program->size;
    put(program, "\x90\xc3", 2);
    for (uint32_t i = 0; i < program->jump_count; i++) {
        uint32_t field = program->jumps[i].field;
        int32_t distance = (int32_t)(program->starts[program->jumps[i].block] - (field + 4));

        memcpy(program->bytes + field, &distance, sizeof(distance));
    }
}

static void begin_at(uint64_t address)
{
    *word(POINTER) = ELSEWHERE; /* where it returns */
    machine.registers[RSP] = POINTER;
    machine.registers[RSI] = (uint64_t)rand() % MOST_ROUNDS;
    machine.registers[RDI] = (uint64_t)rand();
    machine.rip = address;
    machine.pause_at = 0;
}

/* A function by itself, and then its copy, with the same input. False: it cannot be copied. */
static bool try_program(const struct program *program)
{
    struct scene scene;
    struct machine begun;
    uint64_t executed, counted, result;

    if (!begin_counted(&scene, (const char *)program->bytes, program->size)) {
        copied_end(&scene.copied);
        return false;
    }
    if (rand() % 2) /* all registers are alive, as far as is known */
        flow_registers_free(&scene.copied.plan.registers);
    put_image(&scene);
    scene.own = POINTER;
    own_links()->key = key_of(&scene, 0)->key;
    *shadow(POINTER) = OWN;
    begin_at(BASE);
    begun = machine;
    memcpy((void *)(uintptr_t)BASE, program->bytes, program->size); /* without its hook */
    run_until(ELSEWHERE);
    assert_int_equal(machine.rip, ELSEWHERE);
    executed = machine.steps + 1;
    result = machine.registers[RAX];
    machine = begun;
    machine.rip = body_of(&scene, 0);
    held();
    run_until(ELSEWHERE);
    assert_int_equal(machine.rip, ELSEWHERE);
    assert_int_equal(machine.registers[RAX], result);
    counted = own_links()->instructions + (uint64_t)copy_set_of(&scene.copied.set, 0)->returned;
    assert_int_equal(held(), 0);
    assert_int_equal(counted, executed);
    copied_end(&scene.copied);
    return true;
}

static void copies_count_what_is_executed(void **state)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);

    unsigned copied = 0;

    (void)state;
    printf("SEED=%u\n", seed);
    srand(seed);
    for (int i = 0; i < PROGRAMS; i++) {
        struct program program;

        make_program(&program);
        copied += try_program(&program);
    }
    assert_true(copied > PROGRAMS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_way_adds_nothing),
        cmocka_unit_test(where_ways_meet_one_of_them_adds),
        cmocka_unit_test(a_loop_adds_each_time),
        cmocka_unit_test(what_adds_within_a_function_keeps_its_data),
        cmocka_unit_test(copies_count_what_is_executed),
    };

    return cmocka_run_group_tests(tests, site_machine_prepare, NULL);
}
