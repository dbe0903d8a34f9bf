#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow.h"

#include <cmocka.h>

#define START 0x1000u
#define TABLE 0x2000u

/* A function, its data, and what is known of the image. */
struct image {
    struct code code;
    struct code_map map;
    struct function function;
    struct function_list functions;
    struct code_range text, data;
    uint8_t code_bytes[128];
    uint8_t data_bytes[128];
    struct flow_pointer pointers[8];
    uint32_t by_target[8];
    struct flow_source source;
    struct flow flow;
};

/* Begins with code, and a table of offsets in the function, as distances from the table. */
static void image_begin(struct image *image, const char *code, size_t size, const uint32_t *offsets,
                        size_t count)
{
    *image = (struct image){0};
    memcpy(image->code_bytes, code, size);
    memset(image->data_bytes, 0xee, sizeof(image->data_bytes));
    for (size_t i = 0; i < count; i++) {
        uint32_t distance = START + offsets[i] - TABLE;

        memcpy(image->data_bytes + i * sizeof(distance), &distance, sizeof(distance));
    }
    image->text = (struct code_range){START, image->code_bytes, sizeof(image->code_bytes)};
    image->data = (struct code_range){TABLE, image->data_bytes, sizeof(image->data_bytes)};
    image->code.ranges = &image->text;
    image->code.data = &image->data;
    image->code.range_count = image->code.data_count = 1;
    code_map_init(&image->map, &image->code);
    image->function =
        (struct function){.address = START, .end = START + size, .reason = PATCH_PLAIN};
    image->functions = (struct function_list){.items = &image->function, .count = 1};
    image->source = (struct flow_source){.code = &image->code,
                                         .map = &image->map,
                                         .functions = &image->functions,
                                         .pointers = image->pointers,
                                         .by_target = image->by_target};
}

/* A word of data that leads to an offset in the function: ascending by slot and by offset. */
static void add_pointer(struct image *image, uint64_t slot, uint64_t offset)
{
    size_t i = image->source.pointer_count++;

    image->pointers[i] = (struct flow_pointer){slot, START + offset};
    image->by_target[i] = (uint32_t)i;
}

static enum flow_doubt image_read(struct image *image)
{
    flow_read(&image->flow, &image->source, &image->function);
    return image->flow.doubt;
}

static void image_end(struct image *image)
{
    flow_free(&image->flow);
    code_map_free(&image->map);
}

static enum flow_doubt doubt_of(const char *code, size_t size)
{
    struct image image;
    enum flow_doubt doubt;

    image_begin(&image, code, size, NULL, 0);
    doubt = image_read(&image);
    image_end(&image);
    return doubt;
}

#define DOUBT(bytes) doubt_of(bytes, sizeof(bytes) - 1)

static void plain_code_is_certain(void **state)
{
    (void)state;
    assert_int_equal(DOUBT("\x8d\x47\x01\xc3"), FLOW_CERTAIN);                 /* lea; ret */
    assert_int_equal(DOUBT("\x85\xff\x74\x03\x31\xc0\xc3\xc3"), FLOW_CERTAIN); /* je forward */
    assert_int_equal(DOUBT("\xff\xcf\x75\xfc\xc3"), FLOW_CERTAIN);             /* a loop */
    assert_int_equal(DOUBT("\xc3\x66\x90\xcc"), FLOW_CERTAIN);                 /* padding */
    assert_int_equal(DOUBT("\x31\xc0\xe8\x40\x00\x00\x00"), FLOW_CERTAIN);     /* call, no return */
    assert_int_equal(DOUBT("\x66\x48\x8d\x3d\x10\x00\x00\x00\xff\x10\xc3"),
                     FLOW_CERTAIN); /* call [rax]: a TLS descriptor */
}

static void odd_code_is_in_doubt(void **state)
{
    (void)state;
    assert_int_equal(DOUBT("\x06\xc3"), FLOW_UNDECODABLE);
    assert_int_equal(DOUBT("\x74\x01\xb8\x00\x00\x00\x00\xc3"), FLOW_MISALIGNED);
    /* je 1f; lock; 1: cmpxchg [rcx], rbx; ret */
    assert_int_equal(DOUBT("\x74\x01\xf0\x48\x0f\xb1\x19\xc3"), FLOW_CERTAIN);
    assert_int_equal(DOUBT("\x74\x02\xf0\x48\x0f\xb1\x19\xc3"), FLOW_MISALIGNED);
    assert_int_equal(DOUBT("\x31\xc0"), FLOW_OPEN_END);
    assert_int_equal(DOUBT("\x74\x01\xc3\x90"), FLOW_OPEN_END);              /* je to the padding */
    assert_int_equal(DOUBT("\xe8\x00\x00\x00\x00\x58\xc3"), FLOW_UNMOVABLE); /* call $ + 5 */
    assert_int_equal(DOUBT("\xc7\xf8\x00\x00\x00\x00\xc3"), FLOW_UNMOVABLE); /* xbegin */
    assert_int_equal(DOUBT("\x48\x8d\x05\x01\x00\x00\x00\x90\x90\xc3"), FLOW_LABEL);
}

static void flags_are_alive_behind_a_call(void **state)
{
    (void)state;
    /* jc +1; ret; ret: those at its entry are its caller's business */
    assert_int_equal(DOUBT("\x72\x01\xc3\xc3"), FLOW_CERTAIN);
    /* call; jc +1; ret; ret */
    assert_int_equal(DOUBT("\xe8\x40\x00\x00\x00\x72\x01\xc3\xc3"), FLOW_FLAGS);
    /* call; inc eax, which keeps the carry; jc */
    assert_int_equal(DOUBT("\xe8\x40\x00\x00\x00\xff\xc0\x72\x01\xc3\xc3"), FLOW_FLAGS);
    /* call; mov; test; jc */
    assert_int_equal(DOUBT("\xe8\x40\x00\x00\x00\x89\xc1\x85\xc0\x72\x01\xc3\xc3"), FLOW_CERTAIN);
    /* test edi, edi; js +5; call, which does not return; jz +1; ret; ret */
    assert_int_equal(DOUBT("\x85\xff\x78\x05\xe8\x40\x00\x00\x00\x74\x01\xc3\xc3"), FLOW_CERTAIN);
}

static void tail_calls_are_no_jumps_by_a_table(void **state)
{
    (void)state;
    assert_int_equal(DOUBT("\xff\xe7"), FLOW_CERTAIN);                  /* jmp rdi */
    assert_int_equal(DOUBT("\x48\x8b\x07\xff\x60\x10"), FLOW_CERTAIN);  /* jmp [rax + 16] */
    assert_int_equal(DOUBT("\x53\x5b\xff\xe7"), FLOW_CERTAIN);          /* push; pop; jmp rdi */
    assert_int_equal(DOUBT("\x53\xff\xe7"), FLOW_UNKNOWN_JUMP);         /* push; jmp rdi */
    assert_int_equal(DOUBT("\x48\x01\xf7\xff\xe7"), FLOW_UNKNOWN_JUMP); /* add rdi, rsi; jmp rdi */
}

static const char compared[] = "\x83\xff\x02"                 /*  0: cmp edi, 2 */
                               "\x77\x18"                     /*  3: ja 29 */
                               "\x89\xff"                     /*  5: mov edi, edi */
                               "\x48\x8d\x15\xf2\x0f\x00\x00" /*  7: lea rdx, [TABLE] */
                               "\x48\x63\x04\xba"             /* 14: movsxd rax, [rdx + rdi * 4] */
                               "\x48\x01\xd0"                 /* 18: add rax, rdx */
                               "\xff\xe0"                     /* 21: jmp rax */
                               "\xff\xc0\xc3"                 /* 23: inc eax; ret */
                               "\xff\xc8\xc3"                 /* 26: dec eax; ret */
                               "\xc3";                        /* 29: ret */

static const uint32_t targets[] = {23, 29, 26, 23};

static void a_comparison_bounds_a_table(void **state)
{
    struct image image;
    const struct flow_table *table;

    (void)state;
    image_begin(&image, compared, sizeof(compared) - 1, targets, 4);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.table_count, 1);
    table = &image.flow.tables[0];
    assert_int_equal(table->jump, START + 21);
    assert_int_equal(table->address, TABLE);
    assert_int_equal(table->origin, TABLE);
    assert_int_equal(table->entry_size, 4);
    assert_int_equal(table->count, 3);
    assert_true(table->is_bounded);
    assert_int_equal(flow_table_target(&image.source, table, 1), START + 29);
    assert_int_equal(flow_table_target(&image.source, table, 3), 0);
    image_end(&image);
}

/* The upper half of what is compared with 32 bits, and used with 64, may be anything. */
static void half_a_comparison_bounds_nothing(void **state)
{
    char half[sizeof(compared)];
    struct image image;

    (void)state;
    memcpy(half, compared, sizeof(half));
    memcpy(half + 5, "\x66\x90", 2); /* for mov edi, edi */
    image_begin(&image, half, sizeof(half) - 1, targets, 4);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.table_count, 1);
    assert_int_equal(image.flow.tables[0].count, 4); /* as far as they fit */
    assert_false(image.flow.tables[0].is_bounded);
    image_end(&image);
}

/* Entries may lead to members in several places that are not known to be of the family. */
static void a_table_that_goes_on_far_behind_is_in_doubt(void **state)
{
    static const uint32_t torn[] = {23, 24, 24, 24, 24, 24, 24, 26};
    char half[sizeof(compared)];
    struct image image;

    (void)state;
    memcpy(half, compared, sizeof(half));
    memcpy(half + 5, "\x66\x90", 2);
    image_begin(&image, half, sizeof(half) - 1, torn, 8);
    assert_int_equal(image_read(&image), FLOW_UNKNOWN_JUMP);
    image_end(&image);
}

static void another_table_within_is_no_bound(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, compared, sizeof(compared) - 1, targets, 4);
    code_map_add_table(&image.map, (struct code_table){.address = TABLE + 8});
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_false(image.flow.tables[0].is_bounded);
    assert_int_equal(image.flow.tables[0].count, 3);
    image_end(&image);
}

static void a_table_that_does_not_fit_is_in_doubt(void **state)
{
    static const uint32_t nowhere[] = {24, 29, 26};
    static const uint32_t torn[] = {23, 24, 26};
    struct image image;

    (void)state;
    image_begin(&image, compared, sizeof(compared) - 1, nowhere, 3);
    assert_int_equal(image_read(&image), FLOW_UNKNOWN_JUMP);
    image_end(&image);
    image_begin(&image, compared, sizeof(compared) - 1, torn, 3);
    assert_int_equal(image_read(&image), FLOW_UNKNOWN_JUMP);
    image_end(&image);
}

static const char spilled[] = "\x53"                         /*  0: push rbx */
                              "\x48\x83\xec\x10"             /*  1: sub rsp, 16 */
                              "\x48\x8d\x15\xf4\x0f\x00\x00" /*  5: lea rdx, [TABLE] */
                              "\x48\x89\x54\x24\x08"         /* 12: mov [rsp + 8], rdx */
                              "\xff\xd6"                     /* 17: call rsi */
                              "\x83\xf8\x02"                 /* 19: cmp eax, 2 */
                              "\x77\x16"                     /* 22: ja 46 */
                              "\x89\xc3"                     /* 24: mov ebx, eax */
                              "\x48\x8b\x54\x24\x08"         /* 26: mov rdx, [rsp + 8] */
                              "\x48\x63\x04\x9a"             /* 31: movsxd rax, [rdx + rbx * 4] */
                              "\x48\x03\x44\x24\x08"         /* 35: add rax, [rsp + 8] */
                              "\xff\xe0"                     /* 40: jmp rax */
                              "\xeb\xe5\xeb\xe3"             /* 42: jmp 17; jmp 17 */
                              "\x48\x83\xc4\x10\x5b\xc3";    /* 46: add rsp, 16; pop; ret */

static void a_table_is_found_through_a_stack_slot(void **state)
{
    static const uint32_t offsets[] = {42, 44, 46};
    struct image image;

    (void)state;
    image_begin(&image, spilled, sizeof(spilled) - 1, offsets, 3);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.table_count, 1);
    assert_int_equal(image.flow.tables[0].count, 3);
    assert_true(image.flow.tables[0].is_bounded);
    image_end(&image);
}

static const char computed[] = "\x53"                         /*  0: push rbx */
                               "\x48\x8d\x1d\xf8\x0f\x00\x00" /*  1: lea rbx, [TABLE] */
                               "\x0f\xb6\x07"                 /*  8: movzx eax, byte [rdi] */
                               "\xff\x24\xc3"                 /* 11: jmp [rbx + rax * 8] */
                               "\x0f\xb6\x47\x01"             /* 14: movzx eax, byte [rdi + 1] */
                               "\xff\x24\xc3"                 /* 18: jmp [rbx + rax * 8] */
                               "\x5b\xc3"                     /* 21: pop rbx; ret */
                               "\x5b\xc3";                    /* 23: pop rbx; ret */

static void words_that_are_relocated_are_a_table(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, computed, sizeof(computed) - 1, NULL, 0);
    add_pointer(&image, TABLE, 14);
    add_pointer(&image, TABLE + 8, 21);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.table_count, 1);
    assert_int_equal(image.flow.tables[0].count, 2);
    assert_int_equal(image.flow.tables[0].entry_size, 8);
    assert_true(image.flow.tables[0].is_bounded);
    assert_int_equal(flow_table_target(&image.source, &image.flow.tables[0], 1), START + 21);
    assert_int_equal(image.flow.label_count, 0);
    image_end(&image);
}

static void a_word_elsewhere_is_a_label(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, computed, sizeof(computed) - 1, NULL, 0);
    add_pointer(&image, TABLE, 14);
    add_pointer(&image, TABLE + 8, 21);
    add_pointer(&image, TABLE + 64, 23);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.label_count, 1);
    assert_int_equal(image.flow.labels[0], START + 23);
    image_end(&image);
}

static void a_word_that_no_jump_goes_by_is_in_doubt(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, "\x31\xc0\x90\xc3", 4, NULL, 0);
    add_pointer(&image, TABLE, 2);
    assert_int_equal(image_read(&image), FLOW_LABEL);
    image_end(&image);
}

/* A function's first byte has its patch. A fragment has none, and may be a function all the same
   that nothing but a pointer leads to. */
static void a_word_that_leads_to_a_fragment_is_a_label(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, "\x31\xc0\x90\xc3", 4, NULL, 0);
    add_pointer(&image, TABLE, 0);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.label_count, 0);
    image.function.reason = PATCH_FRAGMENT;
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.label_count, 1);
    assert_int_equal(image.flow.labels[0], START);
    image_end(&image);
}

static void an_address_of_a_fragment_in_code_is_a_label(void **state)
{
    struct image image;

    (void)state;
    image_begin(&image, "\x31\xc0\x90\xc3", 4, NULL, 0);
    image.function.reason = PATCH_FRAGMENT;
    address_set_add(&image.map.pointers, START);
    assert_int_equal(image_read(&image), FLOW_CERTAIN);
    assert_int_equal(image.flow.label_count, 1);
    image_end(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_code_is_certain),
        cmocka_unit_test(odd_code_is_in_doubt),
        cmocka_unit_test(flags_are_alive_behind_a_call),
        cmocka_unit_test(tail_calls_are_no_jumps_by_a_table),
        cmocka_unit_test(a_comparison_bounds_a_table),
        cmocka_unit_test(half_a_comparison_bounds_nothing),
        cmocka_unit_test(a_table_that_goes_on_far_behind_is_in_doubt),
        cmocka_unit_test(another_table_within_is_no_bound),
        cmocka_unit_test(a_table_that_does_not_fit_is_in_doubt),
        cmocka_unit_test(a_table_is_found_through_a_stack_slot),
        cmocka_unit_test(words_that_are_relocated_are_a_table),
        cmocka_unit_test(a_word_elsewhere_is_a_label),
        cmocka_unit_test(a_word_that_no_jump_goes_by_is_in_doubt),
        cmocka_unit_test(a_word_that_leads_to_a_fragment_is_a_label),
        cmocka_unit_test(an_address_of_a_fragment_in_code_is_a_label),
    };

    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
