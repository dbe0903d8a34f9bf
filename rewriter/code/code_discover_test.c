/* Functions found in the middle of code that was swept for another. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/code/code_discover.h"

#include <cmocka.h>

#define BASE 0x1000u
#define SIZE 1024u

static void no_unwind_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

static struct return_slot no_unwind_slot_at(void *context, uint64_t address)
{
    (void)context;
    (void)address;
    return (struct return_slot){.until = UINT64_MAX};
}

struct discovered {
    uint8_t bytes[SIZE];
    struct code_range range;
    struct code code;
    struct code_map map;
    struct function_list functions;
};

/* Calls, or jumps near, from one offset to another; returns where it ends. */
static uint64_t lead(struct discovered *discovered, uint8_t opcode, uint64_t from, uint64_t to)
{
    uint32_t distance = (uint32_t)(to - (from + 5));

    discovered->bytes[from] = opcode;
    memcpy(discovered->bytes + from + 1, &distance, sizeof(distance));
    return from + 5;
}

static void begin(struct discovered *discovered)
{
    memset(discovered, 0, sizeof(*discovered));
    memset(discovered->bytes, 0x90, SIZE);
    discovered->bytes[SIZE - 1] = 0xc3;
    discovered->range = (struct code_range){BASE, discovered->bytes, SIZE};
    discovered->code = (struct code){
        .processor = &processor_x86_64,
        .ranges = &discovered->range,
        .range_count = 1,
        .unwind = {NULL, no_unwind_begin, no_unwind_slot_at},
    };
    code_map_init(&discovered->map, &discovered->code);
    function_list_add(
        &discovered->functions,
        (struct function){.address = BASE, .end = BASE + SIZE, .evidence = EVIDENCE_ENTRY});
}

static uint64_t discover(struct discovered *discovered)
{
    uint64_t work = discovered->map.work_left;

    function_list_settle(&discovered->functions);
    code_discover(&discovered->code, &discovered->functions, &discovered->map);
    assert_false(discovered->map.is_exhausted);
    return work - discovered->map.work_left;
}

static void end(struct discovered *discovered)
{
    code_map_free(&discovered->map);
    function_list_free(&discovered->functions);
}

static size_t branches_between(const struct discovered *discovered, uint64_t source,
                               uint64_t target)
{
    size_t count = 0;

    for (size_t i = 0; i < discovered->map.branch_count; i++)
        count += discovered->map.branches[i].source == BASE + source &&
                 discovered->map.branches[i].target == BASE + target;
    return count;
}

static void test_a_jump_within_becomes_one_between(void **state)
{
    struct discovered discovered;

    (void)state;
    begin(&discovered);
    lead(&discovered, 0xe8, 0, 256);    /* call: found in the second round */
    lead(&discovered, 0xe9, 300, 100);  /* jmp: was inside, leads out of it */
    lead(&discovered, 0xe9, 310, 400);  /* was inside, and is */
    lead(&discovered, 0xe9, 320, 258);  /* to its first bytes */
    lead(&discovered, 0xe9, 330, 4096); /* was outside, and is */
    discover(&discovered);
    assert_int_equal(discovered.functions.count, 2);
    assert_int_equal(discovered.functions.items[1].address, BASE + 256);
    assert_int_equal(branches_between(&discovered, 300, 100), 1);
    assert_int_equal(branches_between(&discovered, 310, 400), 0);
    assert_int_equal(branches_between(&discovered, 320, 258), 1);
    assert_int_equal(branches_between(&discovered, 330, 4096), 1);
    assert_true(address_set_has(&discovered.map.jumps, BASE + 400));
    end(&discovered);
}

static void test_a_function_out_of_step_is_decoded_from_its_start(void **state)
{
    struct discovered discovered;

    (void)state;
    begin(&discovered);
    lead(&discovered, 0xe8, 0, 256);
    discovered.bytes[255] = 0xb8;     /* mov eax, ...: swallows what follows */
    lead(&discovered, 0xe9, 256, 64); /* jmp: an instruction for the second sweep only */
    lead(&discovered, 0xe9, 300, 80); /* here they are in step again */
    discover(&discovered);
    assert_int_equal(discovered.functions.count, 2);
    assert_int_equal(branches_between(&discovered, 256, 64), 1);
    assert_int_equal(branches_between(&discovered, 300, 80), 1);
    end(&discovered);
}

static void test_an_indirect_jump_belongs_to_who_is_found(void **state)
{
    struct discovered discovered;

    (void)state;
    begin(&discovered);
    lead(&discovered, 0xe8, 0, 256);
    memcpy(discovered.bytes + 300, "\xff\xe0", 2); /* jmp rax */
    discover(&discovered);
    assert_true(discovered.functions.items[1].has_indirect_jump);
    end(&discovered);
}

static void test_code_swept_again_costs_little(void **state)
{
    struct discovered discovered;
    uint64_t work;

    (void)state;
    begin(&discovered);
    for (uint64_t at = 0; at < 15; at++)
        discovered.bytes[at * 64 + 40] = 0xeb; /* jmp: landmarks */
    lead(&discovered, 0xe8, 0, 256);
    work = discover(&discovered);
    assert_int_equal(discovered.functions.count, 2);
    assert_true(work >= SIZE * CODE_BYTE_WORK);
    assert_true(work < (SIZE + SIZE / 4) * CODE_BYTE_WORK); /* though 3 / 4 were swept again */
    end(&discovered);
}

static void test_functions_that_overlap_exhaust_the_work(void **state)
{
    static uint8_t bytes[16 * SIZE];
    struct code_range range = {BASE, bytes, sizeof(bytes)};
    struct code code = {.processor = &processor_x86_64,
                        .ranges = &range,
                        .range_count = 1,
                        .unwind = {NULL, no_unwind_begin, no_unwind_slot_at}};
    struct function_list functions = {0};
    struct code_map map;

    (void)state;
    memset(bytes, 0x90, sizeof(bytes));
    for (uint64_t at = 0; at < sizeof(bytes); at++)
        function_list_add(&functions, (struct function){.address = BASE + at,
                                                        .end = BASE + sizeof(bytes),
                                                        .evidence = EVIDENCE_EXTENT});
    code_map_init(&map, &code);
    function_list_settle(&functions);
    code_discover(&code, &functions, &map);
    assert_true(map.is_exhausted);
    code_map_free(&map);
    function_list_free(&functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_jump_within_becomes_one_between),
        cmocka_unit_test(test_a_function_out_of_step_is_decoded_from_its_start),
        cmocka_unit_test(test_an_indirect_jump_belongs_to_who_is_found),
        cmocka_unit_test(test_code_swept_again_costs_little),
        cmocka_unit_test(test_functions_that_overlap_exhaust_the_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
