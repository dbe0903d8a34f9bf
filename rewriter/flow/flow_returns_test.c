#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow_returns.h"

#include <cmocka.h>

#define START 0x1000u
#define DIE   64u /* offset of the second function */
#define TABLE 0x2000u
#define SLOT  0x3000u

/* A function that calls another one. */
struct image {
    struct code code;
    struct code_map map;
    struct function functions[2];
    struct function_list list;
    struct code_range text, data;
    uint8_t code_bytes[128];
    uint32_t table[4];
    struct flow_import import;
    struct flow_source source;
};

static void image_begin(struct image *image, const char *die, size_t size)
{
    *image = (struct image){0};
    memset(image->code_bytes, 0xcc, sizeof(image->code_bytes));
    memcpy(image->code_bytes + DIE, die, size);
    image->text = (struct code_range){START, image->code_bytes, sizeof(image->code_bytes)};
    image->data = (struct code_range){TABLE, (uint8_t *)image->table, sizeof(image->table)};
    image->code.ranges = &image->text;
    image->code.data = &image->data;
    image->code.range_count = image->code.data_count = 1;
    code_map_init(&image->map, &image->code);
    image->functions[0] =
        (struct function){.address = START, .end = START + DIE, .reason = PATCH_PLAIN};
    image->functions[1] = (struct function){
        .address = START + DIE, .end = START + DIE + size, .reason = PATCH_PLAIN, .unwind = 1};
    image->list = (struct function_list){.items = image->functions, .count = 2};
    image->import = (struct flow_import){.slot = SLOT, .never_returns = true};
    image->source = (struct flow_source){.code = &image->code,
                                         .map = &image->map,
                                         .functions = &image->list,
                                         .imports = &image->import,
                                         .import_count = 1};
}

static bool never_returns(const char *die, size_t size)
{
    struct image image;
    bool result;

    image_begin(&image, die, size);
    result = flow_never_returns(&image.source, START + DIE);
    code_map_free(&image.map);
    return result;
}

#define NEVER_RETURNS(bytes) never_returns(bytes, sizeof(bytes) - 1)

static void without_a_way_back_it_never_returns(void **state)
{
    (void)state;
    assert_true(NEVER_RETURNS("\x31\xc0\xe8\x00\x00\x00\x00\x0f\x0b")); /* xor; call; ud2 */
    assert_true(NEVER_RETURNS("\x31\xc0\xe8\x00\x00\x00\x00"));         /* ends with a call */
    assert_true(NEVER_RETURNS("\xf4\xeb\xfd"));                         /* hlt, in a loop */
    assert_false(NEVER_RETURNS("\x31\xc0\xc3"));
    assert_false(NEVER_RETURNS("\x31\xc0\xc2\x08\x00"));         /* ret 8 */
    assert_false(NEVER_RETURNS("\x75\x01\xf3\xc3\x0f\x0b"));     /* rep ret */
    assert_false(NEVER_RETURNS("\x31\xc0\xe9\x00\x10\x00\x00")); /* a jump out */
    assert_false(NEVER_RETURNS("\x75\x40\x0f\x0b"));
    assert_false(NEVER_RETURNS("\xff\xe0")); /* jmp rax */
    assert_false(NEVER_RETURNS("\x06"));     /* none */
}

static void only_compilers_code_is_believed(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, "\x0f\x0b", 2);
    assert_true(flow_never_returns(&image.source, START + DIE));
    assert_false(flow_never_returns(&image.source, START + DIE + 1)); /* no function's begin */
    image.functions[1].unwind = 0;
    assert_false(flow_never_returns(&image.source, START + DIE));
    code_map_free(&image.map);
}

/* However many call it: its bytes are not looked at again. */
static void what_was_found_is_kept(void **state)
{
    uint8_t returns[2] = {0};
    struct image image;

    (void)state;
    image_begin(&image, "\x0f\x0b", 2);
    image.source.returns = returns;
    assert_true(flow_never_returns(&image.source, START + DIE));
    memcpy(image.code_bytes + DIE, "\xc3\x90", 2);
    assert_true(flow_never_returns(&image.source, START + DIE));
    memset(returns, 0, sizeof(returns));
    assert_false(flow_never_returns(&image.source, START + DIE));
    memcpy(image.code_bytes + DIE, "\x0f\x0b", 2);
    assert_false(flow_never_returns(&image.source, START + DIE));
    code_map_free(&image.map);
}

static void imports_are_known_by_name(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, "\xff\x25\xba\x1f\x00\x00", 6); /* jmp [SLOT] */
    image.functions[1].reason = PATCH_PLT;
    assert_true(flow_never_returns(&image.source, START + DIE));
    assert_true(flow_import_never_returns(&image.source, SLOT));
    image.import.never_returns = false;
    assert_false(flow_never_returns(&image.source, START + DIE));
    code_map_free(&image.map);
    assert_true(flow_is_name_of_no_return("_Exit"));
    assert_true(flow_is_name_of_no_return("__stack_chk_fail"));
    assert_true(flow_is_name_of_no_return("siglongjmp"));
    assert_true(flow_is_name_of_no_return("verrx"));
    assert_false(flow_is_name_of_no_return("error"));
    assert_false(flow_is_name_of_no_return(""));
}

/* A jump by a table behind a call that does not come back is known, since rbx still leads to the
 * table. */
static enum flow_doubt doubt_of_caller_of(const char *die, size_t size)
{
    static const char caller[] = "\x48\x8d\x1d\xf9\x0f\x00\x00" /*  0: lea rbx, [TABLE] */
                                 "\x83\xff\x02"                 /*  7: cmp edi, 2 */
                                 "\x77\x16"                     /* 10: ja 34 */
                                 "\x89\xff"                     /* 12: mov edi, edi */
                                 "\x48\x63\x04\xbb"     /* 14: movsxd rax, [rbx + rdi * 4] */
                                 "\x48\x01\xd8"         /* 18: add rax, rbx */
                                 "\xff\xe0"             /* 21: jmp rax */
                                 "\xeb\xee"             /* 23: jmp 7 */
                                 "\x31\xdb"             /* 25: xor ebx, ebx */
                                 "\xe8\x20\x00\x00\x00" /* 27: call 64 */
                                 "\xeb\xe5"             /* 32: jmp 7 */
                                 "\xc3";                /* 34: ret */
    static const uint32_t targets[] = {23, 25, 32};
    struct image image;
    struct flow flow;
    enum flow_doubt doubt;

    image_begin(&image, die, size);
    memcpy(image.code_bytes, caller, sizeof(caller) - 1);
    image.functions[0].end = START + sizeof(caller) - 1;
    for (size_t i = 0; i < 3; i++)
        image.table[i] = START + targets[i] - TABLE;
    flow_read(&flow, &image.source, &image.functions[0]);
    doubt = flow.doubt;
    assert_int_equal(flow.table_count, doubt ? 0 : 1);
    if (!doubt)
        assert_int_equal(flow.tables[0].count, 3);
    flow_free(&flow);
    code_map_free(&image.map);
    return doubt;
}

static void a_table_is_known_behind_such_a_call(void **state)
{
    (void)state;
    assert_int_equal(doubt_of_caller_of("\x0f\x0b", 2), FLOW_CERTAIN);
    assert_int_equal(doubt_of_caller_of("\xc3\x90", 2), FLOW_UNKNOWN_JUMP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_way_back_it_never_returns),
        cmocka_unit_test(only_compilers_code_is_believed),
        cmocka_unit_test(what_was_found_is_kept),
        cmocka_unit_test(imports_are_known_by_name),
        cmocka_unit_test(a_table_is_known_behind_such_a_call),
    };

    return cmocka_run_group_tests_name("flow_returns", tests, NULL, NULL);
}
