/* Functions of i386, byte for byte, and what discovery and planning make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_classify.h"
#include "rewriter/code/code_discover.h"
#include "rewriter/patch/patch_decide.h"
#include "rewriter/patch/patch_redirect.h"

#include <cmocka.h>

#define BASE 0x8049000u
#define DATA 0x804b000u
#define GOT  0x804c000u
#define SIZE 256u

/* At the first instruction, the return address is where the stack pointer is; behind it nobody
 * knows. */
static void no_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

static struct return_slot slot_at(void *context, uint64_t address)
{
    (void)context;
    return (struct return_slot){
        .base = address == BASE ? RETURN_SLOT_RSP : RETURN_SLOT_UNKNOWN,
        .until = address + 1,
    };
}

/* A function at BASE, and words of data. */
struct planned {
    uint8_t bytes[SIZE];
    uint32_t data_words[16];
    struct code_range range, data;
    struct code code;
    struct code_map map;
    struct function_list functions;
    struct patch_plan plan;
};

static void add_function(struct planned *planned, uint64_t offset, uint64_t size)
{
    function_list_add(&planned->functions, (struct function){
                                               .address = BASE + offset,
                                               .end = BASE + offset + size,
                                               .evidence = EVIDENCE_SYMBOL | EVIDENCE_EXTENT,
                                           });
}

static void planned_begin(struct planned *planned, const char *bytes, size_t size)
{
    memset(planned, 0, sizeof(*planned));
    memset(planned->bytes, 0xf4, SIZE); /* hlt: no padding */
    memcpy(planned->bytes, bytes, size);
    planned->range = (struct code_range){BASE, planned->bytes, SIZE};
    planned->data =
        (struct code_range){DATA, (uint8_t *)planned->data_words, sizeof(planned->data_words)};
    planned->code = (struct code){
        .processor = &processor_i386,
        .ranges = &planned->range,
        .range_count = 1,
        .data = &planned->data,
        .data_count = 1,
        .unwind = {NULL, no_begin, slot_at},
    };
    code_map_init(&planned->map, &planned->code);
    add_function(planned, 0, size);
}

static struct function planned_run(struct planned *planned)
{
    function_list_settle(&planned->functions);
    code_discover(&planned->code, &planned->functions, &planned->map);
    code_classify(&planned->map, &planned->functions);
    planned->plan = (struct patch_plan){
        .code = &planned->code,
        .functions = &planned->functions,
        .map = &planned->map,
        .base = BASE,
        .end = BASE + 0x100000,
    };
    patch_decide(&planned->plan);
    return planned->functions.items[0];
}

static void planned_end(struct planned *planned)
{
    patch_plan_free(&planned->plan);
    code_map_free(&planned->map);
    function_list_free(&planned->functions);
}

static struct function plan_one(const char *bytes, size_t size)
{
    struct planned planned;
    struct function function;

    planned_begin(&planned, bytes, size);
    function = planned_run(&planned);
    planned_end(&planned);
    return function;
}

#define PLAN(text) plan_one(text, sizeof(text) - 1)

static void assert_reason(struct function function, enum patch_reason reason)
{
    assert_string_equal(patch_reason_word(function.reason), patch_reason_word(reason));
}

static void assert_plan(struct function function, enum patch_reason reason, unsigned offset,
                        unsigned displaced)
{
    assert_reason(function, reason);
    assert_int_equal(function.patch_offset, offset);
    assert_int_equal(function.displaced, displaced);
}

static void test_prologues(void **state)
{
    (void)state;
    /* push ebp; mov ebp, esp; sub esp, 8; leave; ret */
    assert_plan(PLAN("\x55\x89\xe5\x83\xec\x08\xc9\xc3"), PATCH_PLAIN, 0, 6);
    /* endbr32; mov edi, edi; push ebp; mov ebp, esp; pop ebp; ret */
    assert_plan(PLAN("\xf3\x0f\x1e\xfb\x8b\xff\x55\x89\xe5\x5d\xc3"), PATCH_PLAIN, 4, 5);
    /* lea ecx, [esp + 4]; and esp, -16; push [ecx - 4]; … */
    assert_plan(PLAN("\x8d\x4c\x24\x04\x83\xe4\xf0\xff\x71\xfc\xc3"), PATCH_PLAIN, 0, 7);
    /* mov eax, [0x804b000]; ret */
    assert_plan(PLAN("\xa1\x00\xb0\x04\x08\xc3"), PATCH_PLAIN, 0, 5);
    /* mov ecx, [0x804b000]; ret */
    assert_plan(PLAN("\x8b\x0d\x00\xb0\x04\x08\xc3"), PATCH_PLAIN, 0, 6);
    /* mov eax, [esp + 4]; ret; lea esi, [esi + 0] */
    assert_plan(PLAN("\x8b\x44\x24\x04\xc3\x8d\x76\x00"), PATCH_PLAIN, 0, 5);
}

static void test_padding_of_32_bits_is_used(void **state)
{
    struct planned planned;

    (void)state;
    /* xor eax, eax; ret; lea esi, [esi + 0] behind it */
    planned_begin(&planned, "\x31\xc0\xc3\x8d\x76\x00", 6);
    planned.functions.items[0].end = BASE + 3;
    assert_plan(planned_run(&planned), PATCH_PADDING, 0, 3);
    planned_end(&planned);
}

static void test_calls_that_learn_the_address(void **state)
{
    struct planned planned;

    (void)state;
    /* push ebp; push edi; push esi; push ebx; call 48; … with a thunk there */
    planned_begin(&planned, "\x55\x57\x56\x53\xe8\x27\x00\x00\x00\x5b\x5e\x5f\x5d\xc3", 14);
    memcpy(planned.bytes + 48, "\x8b\x1c\x24\xc3", 4);
    assert_plan(planned_run(&planned), PATCH_ADJUSTED, 0, 9);
    assert_int_equal(planned.functions.count, 2);
    assert_int_equal(planned.functions.items[1].address, BASE + 48);
    assert_reason(planned.functions.items[1], PATCH_RETURN_ADDRESS);
    planned_end(&planned);
    /* push ebx; call +0; pop ebx; pop ebx; ret: nothing is called */
    planned_begin(&planned, "\x53\xe8\x00\x00\x00\x00\x5b\x5b\xc3", 9);
    assert_plan(planned_run(&planned), PATCH_ADJUSTED, 0, 6);
    assert_int_equal(planned.functions.count, 1);
    planned_end(&planned);
}

static void test_reading_the_return_address_is_left_alone(void **state)
{
    (void)state;
    /* mov eax, [esp]; nop; nop; ret */
    assert_reason(PLAN("\x8b\x04\x24\x90\x90\xc3"), PATCH_RETURN_ADDRESS);
    /* pop edx; push edx; mov eax, 1; ret */
    assert_reason(PLAN("\x5a\x52\xb8\x01\x00\x00\x00\xc3"), PATCH_RETURN_ADDRESS);
    /* mov eax, [esp + 4]; nop; ret: a parameter, which with 8 bytes would be in the slot */
    assert_reason(PLAN("\x8b\x44\x24\x04\x90\xc3"), PATCH_PLAIN);
}

/* push ebx; push esi; cmp eax, 1, into whose middle the second entry of a table leads. */
static void plan_table(struct planned *planned, const char *jump, size_t size, uint32_t origin,
                       enum patch_reason reason)
{
    uint8_t code[64] = {0x53, 0x56, 0x83, 0xf8, 0x01};

    memcpy(code + 5, jump, size);
    memcpy(planned->bytes, code, 5 + size);
    planned->functions.items[0].end = BASE + 5 + size;
    planned->data_words[2] = BASE + 5 - origin;
    planned->data_words[3] = BASE + 2 - origin;
    assert_reason(planned_run(planned), reason);
    planned_end(planned);
}

static void test_tables_of_addresses(void **state)
{
    struct planned planned;

    (void)state;
    /* jmp [eax * 4 + DATA + 8] */
    planned_begin(&planned, "\xc3", 1);
    planned.code.has_absolute_code = true;
    plan_table(&planned, "\xff\x24\x85\x08\xb0\x04\x08", 7, 0, PATCH_BRANCH_TARGET);
    /* mov eax, [eax * 4 + DATA + 8]; jmp eax */
    planned_begin(&planned, "\xc3", 1);
    planned.code.has_absolute_code = true;
    plan_table(&planned, "\x8b\x04\x85\x08\xb0\x04\x08\xff\xe0", 9, 0, PATCH_BRANCH_TARGET);
}

static void test_tables_of_distances_from_the_got(void **state)
{
    struct planned planned;

    (void)state;
    /* mov eax, [ebx + eax * 4 + DATA + 8 - GOT]; add eax, ebx; jmp eax */
    planned_begin(&planned, "\xc3", 1);
    planned.code.got = GOT;
    plan_table(&planned, "\x8b\x84\x83\x08\xf0\xff\xff\x01\xd8\xff\xe0", 11, GOT,
               PATCH_BRANCH_TARGET);
    /* mov edx, ebx; add edx, [ebx + eax * 4 + DATA + 8 - GOT]; jmp edx */
    planned_begin(&planned, "\xc3", 1);
    planned.code.got = GOT;
    plan_table(&planned, "\x89\xda\x03\x94\x83\x08\xf0\xff\xff\xff\xe2", 11, GOT,
               PATCH_BRANCH_TARGET);
    /* the same without a jump */
    planned_begin(&planned, "\xc3", 1);
    planned.code.got = GOT;
    plan_table(&planned, "\x89\xda\x03\x94\x83\x08\xf0\xff\xff\xc3", 10, GOT, PATCH_PLAIN);
}

static void test_addresses_in_code(void **state)
{
    struct planned planned;

    (void)state;
    /* push BASE + 2; ret, with push esi; push edi … in front of it */
    planned_begin(&planned, "\x56\x57\x55\x53\x50\x68\x02\x90\x04\x08\xc3", 11);
    planned.code.has_absolute_code = true;
    assert_reason(planned_run(&planned), PATCH_BRANCH_TARGET);
    planned_end(&planned);
    /* lea eax, [ebx + BASE + 2 - GOT] */
    planned_begin(&planned, "\x56\x57\x55\x53\x50\x8d\x83\x02\xd0\xff\xff\xc3", 12);
    planned.code.got = GOT;
    assert_reason(planned_run(&planned), PATCH_BRANCH_TARGET);
    planned_end(&planned);
}

static void test_pointers_of_4_bytes_are_found_in_data(void **state)
{
    struct planned planned;

    (void)state;
    planned_begin(&planned, "\x55\x89\xe5\x83\xec\x08\xc9\xc3", 8);
    planned.code.has_absolute_code = true;
    planned.data_words[5] = BASE;
    planned_run(&planned);
    assert_true(planned.functions.items[0].evidence & EVIDENCE_POINTER);
    planned_end(&planned);
}

static void test_what_a_loader_fills_in_does_not_move(void **state)
{
    /* push ebp; mov ebp, esp; mov eax, 0x12345678; pop ebp; ret */
    static const char code[] = "\x55\x89\xe5\xb8\x78\x56\x34\x12\x5d\xc3";
    struct planned planned;

    (void)state;
    for (uint32_t at = 0; at < 16; at++) {
        planned_begin(&planned, code, sizeof(code) - 1);
        code_map_add_relocated(&planned.map, &planned.code, BASE + 64);
        code_map_add_relocated(&planned.map, &planned.code, BASE + at);
        code_map_add_relocated(&planned.map, &planned.code, DATA); /* is no code */
        assert_reason(planned_run(&planned), at < 8 ? PATCH_UNMOVABLE : PATCH_PLAIN);
        planned_end(&planned);
    }
}

static void test_linkage_stubs(void **state)
{
    (void)state;
    /* a call of each finds them: jmp [DATA]; jmp [ebx + 12]; endbr32; jmp [ebx + 12] */
    static const char *stubs[] = {"\xff\x25\x00\xb0\x04\x08", "\xff\xa3\x0c\x00\x00\x00",
                                  "\xf3\x0f\x1e\xfb\xff\xa3\x0c\x00\x00\x00"};
    static const size_t sizes[] = {6, 6, 10};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct planned planned;

        planned_begin(&planned, "\x90\x90\x90\x90\x90\xe8\x36\x00\x00\x00\xc3", 11);
        memcpy(planned.bytes + 64, stubs[i], sizes[i]);
        planned_run(&planned);
        assert_int_equal(planned.functions.count, 2);
        assert_reason(planned.functions.items[1], PATCH_PLT);
        planned_end(&planned);
    }
}

/* A `ret` at BASE + 32, which is called, and whose address may be taken. */
static enum patch_reason redirected(const char *bytes, size_t size, uint64_t got)
{
    struct planned planned;
    struct patch_ways ways;
    enum patch_reason reason;

    planned_begin(&planned, bytes, size);
    planned.bytes[32] = 0xc3;
    planned.code.got = got;
    add_function(&planned, 32, 1);
    planned_run(&planned);
    patch_ways_init(&ways, &planned.code);
    patch_redirect(&planned.plan, &ways);
    reason = planned.functions.items[1].reason;
    patch_ways_free(&ways);
    planned_end(&planned);
    return reason;
}

static void test_callers_are_changed_where_the_address_is_not_taken(void **state)
{
    (void)state;
    /* push ebx; push ebx; push ebx; push ebx; push ebx; call 32; ret */
    assert_int_equal(redirected("\x53\x53\x53\x53\x53\xe8\x16\x00\x00\x00\xc3", 11, GOT),
                     PATCH_REDIRECTED);
    /* the same, and lea eax, [ebx + BASE + 32 - GOT] */
    assert_int_equal(redirected("\x53\x53\x53\x53\x53\xe8\x16\x00\x00\x00\x8d\x83\x20\xd0\xff\xff"
                                "\xc3",
                                17, GOT),
                     PATCH_TOO_SHORT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prologues),
        cmocka_unit_test(test_padding_of_32_bits_is_used),
        cmocka_unit_test(test_calls_that_learn_the_address),
        cmocka_unit_test(test_reading_the_return_address_is_left_alone),
        cmocka_unit_test(test_tables_of_addresses),
        cmocka_unit_test(test_tables_of_distances_from_the_got),
        cmocka_unit_test(test_addresses_in_code),
        cmocka_unit_test(test_pointers_of_4_bytes_are_found_in_data),
        cmocka_unit_test(test_what_a_loader_fills_in_does_not_move),
        cmocka_unit_test(test_linkage_stubs),
        cmocka_unit_test(test_callers_are_changed_where_the_address_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
