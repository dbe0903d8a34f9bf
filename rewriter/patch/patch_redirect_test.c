/* Functions of one byte, and what leads to them: what is redirected, and what rules it out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_classify.h"
#include "rewriter/code/code_discover.h"
#include "rewriter/patch/patch_decide.h"
#include "rewriter/patch/patch_redirect.h"

#include <cmocka.h>

#define BASE   0x401000u
#define SIZE   512u
#define CALLER 0x180u /* the caller, out of reach of short jumps; at BASE is a `ret` */

static struct return_slot no_slot(void *context, uint64_t address)
{
    (void)context;
    (void)address;
    return (struct return_slot){.until = UINT64_MAX};
}

static void no_begin(void *context, const struct function *function)
{
    (void)context;
    (void)function;
}

struct planned {
    uint8_t bytes[SIZE];
    struct code_range range;
    struct code code;
    struct code_map map;
    struct function_list functions;
    struct patch_plan plan;
    struct patch_ways ways;
};

/* A `ret` at BASE, and a caller made of those bytes. */
static void planned_begin(struct planned *planned, const char *bytes, size_t size)
{
    memset(planned, 0, sizeof(*planned));
    memset(planned->bytes, 0xf4, SIZE); /* hlt: no padding */
    planned->bytes[0] = 0xc3;
    memcpy(planned->bytes + CALLER, bytes, size);
    planned->range = (struct code_range){BASE, planned->bytes, SIZE};
    planned->code = (struct code){.processor = &processor_x86_64,
                                  .ranges = &planned->range,
                                  .range_count = 1,
                                  .unwind = {NULL, no_begin, no_slot}};
    code_map_init(&planned->map, &planned->code);
    patch_ways_init(&planned->ways, &planned->code);
    function_list_add(&planned->functions,
                      (struct function){.address = BASE,
                                        .end = BASE + 1,
                                        .evidence = EVIDENCE_SYMBOL | EVIDENCE_EXTENT});
    function_list_add(&planned->functions,
                      (struct function){.address = BASE + CALLER,
                                        .end = BASE + CALLER + size,
                                        .evidence = EVIDENCE_SYMBOL | EVIDENCE_EXTENT});
}

static void planned_run(struct planned *planned)
{
    function_list_settle(&planned->functions);
    code_discover(&planned->code, &planned->functions, &planned->map);
    code_classify(&planned->map, &planned->functions);
    planned->plan = (struct patch_plan){.code = &planned->code,
                                        .functions = &planned->functions,
                                        .map = &planned->map,
                                        .base = BASE,
                                        .end = BASE + 0x100000};
    patch_decide(&planned->plan);
    patch_redirect(&planned->plan, &planned->ways);
}

static void planned_end(struct planned *planned)
{
    patch_plan_free(&planned->plan);
    patch_ways_free(&planned->ways);
    code_map_free(&planned->map);
    function_list_free(&planned->functions);
}

static void assert_reason(const struct planned *planned, enum patch_reason reason)
{
    assert_string_equal(patch_reason_word(planned->functions.items[0].reason),
                        patch_reason_word(reason));
    assert_int_equal(planned->functions.items[0].patch_size, 0);
}

/* The caller's reference at that offset is redirected, and nothing else. */
static void check_redirected(const char *bytes, size_t size, uint64_t instruction, uint64_t field)
{
    struct planned planned;

    planned_begin(&planned, bytes, size);
    planned_run(&planned);
    assert_reason(&planned, PATCH_REDIRECTED);
    assert_int_equal(planned.plan.redirect_count, 1);
    assert_int_equal(planned.plan.redirects[0].instruction, BASE + CALLER + instruction);
    assert_int_equal(planned.plan.redirects[0].field, BASE + CALLER + field);
    assert_int_equal(planned.plan.redirects[0].function, 0);
    planned_end(&planned);
}

#define CHECK_REDIRECTED(text, ...) check_redirected(text, sizeof(text) - 1, __VA_ARGS__)

static void check_kept(const char *bytes, size_t size)
{
    struct planned planned;

    planned_begin(&planned, bytes, size);
    planned_run(&planned);
    assert_reason(&planned, PATCH_TOO_SHORT);
    assert_int_equal(planned.plan.redirect_count, 0);
    planned_end(&planned);
}

#define CHECK_KEPT(text) check_kept(text, sizeof(text) - 1)

static void test_near_references_are_redirected(void **state)
{
    (void)state;
    /* mov eax, 1; call BASE; ret */
    CHECK_REDIRECTED("\xb8\x01\x00\x00\x00\xe8\x76\xfe\xff\xff\xc3", 5, 6);
    /* mov eax, 1; jmp BASE */
    CHECK_REDIRECTED("\xb8\x01\x00\x00\x00\xe9\x76\xfe\xff\xff", 5, 6);
    /* mov eax, 1; jz BASE; ret */
    CHECK_REDIRECTED("\xb8\x01\x00\x00\x00\x0f\x84\x75\xfe\xff\xff\xc3", 5, 7);
    /* mov eax, 1; lea rax, [rip + BASE]; ret */
    CHECK_REDIRECTED("\xb8\x01\x00\x00\x00\x48\x8d\x05\x74\xfe\xff\xff\xc3", 5, 8);
}

static void test_a_displaced_reference_is_told(void **state)
{
    struct planned planned;

    (void)state;
    planned_begin(&planned, "\xe9\x7b\xfe\xff\xff", 5); /* jmp BASE, the caller's first */
    planned_run(&planned);
    assert_reason(&planned, PATCH_REDIRECTED);
    assert_int_equal(planned.plan.redirect_count, 1);
    assert_ptr_equal(patch_redirect_displacer(&planned.plan, planned.plan.redirects),
                     &planned.functions.items[1]);
    planned_end(&planned);
}

static void test_what_cannot_be_changed_rules_it_out(void **state)
{
    (void)state;
    /* nothing leads there: mov eax, 1; ret */
    CHECK_KEPT("\xb8\x01\x00\x00\x00\xc3");
    /* its code is read: mov eax, 1; mov rax, [rip + BASE]; call BASE; ret */
    CHECK_KEPT("\xb8\x01\x00\x00\x00\x48\x8b\x05\x74\xfe\xff\xff\xe8\x6f\xfe\xff\xff\xc3");
}

static void test_bytes_that_look_like_a_distance_are_left(void **state)
{
    (void)state;
    /* mov eax, 1; mov eax, the distance; call BASE; ret */
    CHECK_REDIRECTED("\xb8\x01\x00\x00\x00\xb8\x76\xfe\xff\xff\xe8\x71\xfe\xff\xff\xc3", 10, 11);
}

static void test_a_reference_out_of_functions_rules_it_out(void **state)
{
    struct planned planned;

    (void)state;
    planned_begin(&planned, "\xb8\x01\x00\x00\x00\xe8\x76\xfe\xff\xff\xc3", 11);
    memcpy(planned.bytes + 0x1c0, "\xe9\x3b\xfe\xff\xff", 5); /* jmp BASE, behind the caller */
    planned_run(&planned);
    assert_reason(&planned, PATCH_TOO_SHORT);
    planned_end(&planned);
}

static void test_padding_that_looks_like_a_distance_is_left(void **state)
{
    struct planned planned;

    (void)state;
    planned_begin(&planned, "\xb8\x01\x00\x00\x00\xe8\x76\xfe\xff\xff\xc3", 11);
    /* nop [rax + the distance], behind the caller */
    memcpy(planned.bytes + CALLER + 11, "\x0f\x1f\x80\x6e\xfe\xff\xff", 7);
    planned_run(&planned);
    assert_reason(&planned, PATCH_REDIRECTED);
    planned_end(&planned);
}

static void test_the_format_has_its_say(void **state)
{
    struct planned planned;

    (void)state;
    planned_begin(&planned, "\xb8\x01\x00\x00\x00\xc3", 6);
    address_set_add(&planned.ways.known, BASE);
    planned_run(&planned);
    assert_reason(&planned, PATCH_REDIRECTED);
    planned_end(&planned);

    planned_begin(&planned, "\xb8\x01\x00\x00\x00\xe8\x76\xfe\xff\xff\xc3", 11);
    address_set_add(&planned.ways.barred, BASE);
    planned_run(&planned);
    assert_reason(&planned, PATCH_TOO_SHORT);
    planned_end(&planned);
}

static void test_what_precedes_it_rules_it_out(void **state)
{
    static const struct {
        const char *bytes;
        enum patch_reason reason;
    } cases[] = {
        {"\xc3\x78\x56\x34\x12", PATCH_TOO_SHORT},  /* ret; a number */
        {"\xc3\x00\x00\x0e\x00", PATCH_TOO_SHORT},  /* ret; what decodes */
        {"\xc3\x0f\x1f\x40\x00", PATCH_REDIRECTED}, /* ret; nop */
        {"\xeb\xfe\x66\x90\xcc", PATCH_REDIRECTED}, /* jmp; nop; int3 */
        {"\xb8\x78\x56\x34\x12", PATCH_TOO_SHORT},  /* mov eax, a number */
    };
    struct planned planned;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        planned_begin(&planned, "\xb8\x01\x00\x00\x00\xe8\x7b\xfe\xff\xff\xc3", 11);
        memcpy(planned.bytes, cases[i].bytes, 5);
        planned.bytes[5] = 0xc3;
        planned.functions.items[0].address += 5;
        planned.functions.items[0].end += 5;
        planned_run(&planned);
        assert_reason(&planned, cases[i].reason);
        planned_end(&planned);
    }
}

static void test_numbers_rule_it_out_in_absolute_code(void **state)
{
    uint8_t bytes[64] = {0};
    struct code_range data = {0x403000, bytes, sizeof(bytes)};
    uint32_t number = BASE;
    struct planned planned;

    (void)state;
    memcpy(bytes + 13, &number, sizeof(number)); /* at any place */
    for (int is_absolute = 0; is_absolute < 2; is_absolute++)
        for (int is_symbol = 0; is_symbol < 2; is_symbol++) {
            planned_begin(&planned, "\xb8\x01\x00\x00\x00\xe8\x76\xfe\xff\xff\xc3", 11);
            planned.code.data = &data;
            planned.code.data_count = 1;
            planned.code.has_absolute_code = is_absolute;
            planned.ways.symbols = data.address;
            planned.ways.symbols_size = is_symbol ? data.size : 0;
            planned_run(&planned);
            assert_reason(&planned, is_absolute && !is_symbol ? PATCH_TOO_SHORT : PATCH_REDIRECTED);
            planned_end(&planned);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_references_are_redirected),
        cmocka_unit_test(test_a_displaced_reference_is_told),
        cmocka_unit_test(test_what_cannot_be_changed_rules_it_out),
        cmocka_unit_test(test_bytes_that_look_like_a_distance_are_left),
        cmocka_unit_test(test_a_reference_out_of_functions_rules_it_out),
        cmocka_unit_test(test_padding_that_looks_like_a_distance_is_left),
        cmocka_unit_test(test_the_format_has_its_say),
        cmocka_unit_test(test_what_precedes_it_rules_it_out),
        cmocka_unit_test(test_numbers_rule_it_out_in_absolute_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
