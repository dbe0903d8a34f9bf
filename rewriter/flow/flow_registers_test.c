/* Functions put together by hand, 0x80 bytes apart, and what is dead at their calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_registers.h"
#include "rewriter/flow/flow_uses.h"

#include <cmocka.h>

#define START     0x1000u
#define TABLE     0x8000u
#define ELSEWHERE 0x7000u /* no code of the image */
#define APART     0x80u
#define FUNCTIONS 4u
#define SLOT      0x9000u
#define INT3      0xccu /* what a debugger reads is its own business */

struct image {
    struct code code;
    struct code_map map;
    struct function items[FUNCTIONS];
    struct function_list functions;
    uint8_t doubts[FUNCTIONS];
    struct code_range text, data;
    uint8_t bytes[FUNCTIONS * APART];
    uint8_t table[16];
    struct flow_import import;
    struct flow_table tables[1];
    size_t table_count;
    struct flow_source source;
    struct flow_registers registers;
    size_t now; /* function that is written */
    uint64_t here;
};

static void image_begin(struct image *image)
{
    *image = (struct image){.here = START};
    memset(image->bytes, 0xcc, sizeof(image->bytes));
    image->text = (struct code_range){START, image->bytes, sizeof(image->bytes)};
    image->data = (struct code_range){TABLE, image->table, sizeof(image->table)};
    image->code = (struct code){.processor = &processor_x86_64,
                                .ranges = &image->text,
                                .range_count = 1,
                                .data = &image->data,
                                .data_count = 1};
    code_map_init(&image->map, &image->code);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        image->items[i] = (struct function){.address = START + i * APART,
                                            .end = START + i * APART,
                                            .reason = PATCH_PLAIN,
                                            .unwind = 1 + i};
    image->functions = (struct function_list){.items = image->items, .count = FUNCTIONS};
    image->source = (struct flow_source){.code = &image->code,
                                         .map = &image->map,
                                         .functions = &image->functions,
                                         .imports = &image->import};
}

static uint64_t start_of(size_t function)
{
    return START + function * APART;
}

/* What is put from now on is the function's. */
static void begin(struct image *image, size_t function)
{
    image->now = function;
    image->here = start_of(function);
}

/* Returns where it is. */
static uint64_t put_bytes(struct image *image, const char *bytes, size_t size)
{
    uint64_t at = image->here;

    memcpy(image->bytes + (at - START), bytes, size);
    image->here += size;
    image->items[image->now].end = image->here;
    return at;
}

#define PUT(image, text) put_bytes(image, text, sizeof(text) - 1)

/* An opcode and a distance of 32 bits to an address. */
static uint64_t put_near(struct image *image, const char *opcode, size_t size, uint64_t target)
{
    uint64_t at = put_bytes(image, opcode, size);
    uint32_t distance = (uint32_t)(target - (image->here + 4));

    put_bytes(image, (const char *)&distance, sizeof(distance));
    return at;
}

#define CALL(image, target)         put_near(image, "\xe8", 1, target)
#define JUMP(image, target)         put_near(image, "\xe9", 1, target)
#define JUMP_IF_ZERO(image, target) put_near(image, "\x0f\x84", 2, target)
#define CALL_SLOT(image, slot)      put_near(image, "\xff\x15", 2, slot)

static void find(struct image *image)
{
    flow_registers_find(&image->registers,
                        &(struct flow_registers_scope){.source = &image->source,
                                                       .doubts = image->doubts,
                                                       .tables = image->tables,
                                                       .table_count = image->table_count});
}

static void image_end(struct image *image)
{
    flow_registers_free(&image->registers);
    code_map_free(&image->map);
}

static void assert_dead(const struct image *image, uint64_t address, unsigned dead)
{
    assert_int_equal(flow_registers_dead(&image->registers, address), dead);
}

static void code_of_others_reads_arguments(void **state)
{
    struct image image;
    uint64_t direct, by_rax, by_slot, leaves;

    (void)state;
    image_begin(&image);
    image.import = (struct flow_import){.slot = SLOT};
    image.source.import_count = 1;
    begin(&image, 0);
    by_rax = PUT(&image, "\xff\xd0"); /* call rax */
    by_slot = CALL_SLOT(&image, SLOT);
    direct = CALL(&image, ELSEWHERE);     /* no function is known there */
    leaves = PUT(&image, "\x41\xff\xe3"); /* jmp r11 */
    find(&image);
    assert_dead(&image, by_rax, REGISTER_R10 | REGISTER_R11);
    assert_dead(&image, by_slot, REGISTER_R10 | REGISTER_R11);
    assert_dead(&image, direct, 0);
    assert_dead(&image, leaves, REGISTER_R10);
    assert_dead(&image, leaves + 1, 0);
    image_end(&image);
}

static void a_static_chain_is_alive_at_a_call_by_a_pointer(void **state)
{
    struct image image;
    uint64_t call;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    PUT(&image, "\x4c\x8d\x54\x24\x08"); /* lea r10, [rsp + 8] */
    call = PUT(&image, "\xff\xd0\xc3");
    find(&image);
    assert_dead(&image, call, REGISTER_R11);
    image_end(&image);
}

static void a_descriptor_of_thread_local_storage_keeps_all(void **state)
{
    struct image image;
    uint64_t call;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    call = PUT(&image, "\xff\x10");  /* call [rax] */
    PUT(&image, "\x4c\x01\xd8\xc3"); /* add rax, r11; ret */
    find(&image);
    assert_dead(&image, call, REGISTER_R10);
    image_end(&image);
}

/* A function of the image reads what it reads; and what is not its own passes through it. */
static void a_callee_tells_what_it_reads(void **state)
{
    struct image image;
    uint64_t first, second;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    first = CALL(&image, start_of(2));
    PUT(&image, "\x4c\x01\xd0\xc3"); /* add rax, r10; ret */
    begin(&image, 1);
    second = CALL(&image, start_of(2));
    PUT(&image, "\x31\xc0\x31\xd2\xc3"); /* xor eax, eax; xor edx, edx; ret */
    begin(&image, 2);
    PUT(&image, "\x8d\x04\x0f"); /* lea eax, [rdi + rcx] */
    PUT(&image, "\x31\xf6\xc3"); /* xor esi, esi; ret */
    find(&image);
    /* rdx and rdi may be the caller's caller's. */
    assert_dead(&image, first,
                REGISTERS_FREE & ~(REGISTER_RDI | REGISTER_RCX | REGISTER_R10 | REGISTER_RDX));
    /* r10, which the other caller needs, is not asked of this one. */
    assert_dead(&image, second, REGISTERS_FREE & ~(REGISTER_RDI | REGISTER_RCX));
    image_end(&image);
}

/* -fipa-ra: a caller knows that r10 comes through. */
static void what_a_caller_needs_is_alive_in_its_callee(void **state)
{
    struct image image;
    uint64_t inner, other;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    CALL(&image, start_of(1));
    PUT(&image, "\x4c\x01\xd0\xc3"); /* add rax, r10; ret */
    begin(&image, 1);
    inner = CALL(&image, start_of(2));
    PUT(&image, "\xc3");
    begin(&image, 2);
    PUT(&image, "\x31\xc0\xc3");
    begin(&image, 3);
    other = CALL(&image, start_of(2));
    PUT(&image, "\xc3");
    find(&image);
    assert_dead(&image, inner,
                REGISTER_RAX | REGISTER_RCX | REGISTER_R8 | REGISTER_R9 | REGISTER_R11);
    assert_dead(&image, other,
                REGISTER_RAX | REGISTER_RCX | REGISTER_R8 | REGISTER_R9 | REGISTER_R10 |
                    REGISTER_R11);
    image_end(&image);
}

/* Needs go on through what jumps to another function, and back through a slot. */
static void needs_go_on_by_jumps_and_imports(void **state)
{
    struct image image;
    uint64_t leaves, inner;

    (void)state;
    image_begin(&image);
    image.import = (struct flow_import){.slot = SLOT, .target = start_of(1)};
    image.source.import_count = 1;
    begin(&image, 0);
    CALL_SLOT(&image, SLOT);
    PUT(&image, "\x4c\x01\xd0\xc3"); /* add rax, r10; ret */
    begin(&image, 1);
    leaves = JUMP_IF_ZERO(&image, start_of(2));
    PUT(&image, "\x4c\x01\xd9\xc3"); /* add rcx, r11; ret */
    begin(&image, 2);
    inner = CALL(&image, start_of(3));
    PUT(&image, "\xc3");
    begin(&image, 3);
    PUT(&image, "\x31\xc0\xc3");
    find(&image);
    assert_dead(&image, inner,
                REGISTER_RAX | REGISTER_RCX | REGISTER_R8 | REGISTER_R9 | REGISTER_R11);
    assert_dead(&image, leaves, REGISTER_R8 | REGISTER_R9);
    assert_int_equal(flow_registers_dead_taken(&image.registers, leaves),
                     REGISTER_RAX | REGISTER_RCX | REGISTER_R8 | REGISTER_R9 | REGISTER_R11);
    image_end(&image);
}

static void a_loop_and_a_fragment_are_followed(void **state)
{
    struct image image;
    uint64_t call, jump;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    call = CALL(&image, start_of(2));
    PUT(&image, "\x4d\x01\xd0");              /* add r8, r10 */
    jump = JUMP_IF_ZERO(&image, start_of(1)); /* to the fragment */
    PUT(&image, "\xeb\xf0");                  /* jmp call */
    begin(&image, 1);
    image.items[1].reason = PATCH_FRAGMENT;
    PUT(&image, "\x44\x89\xc8"); /* mov eax, r9d */
    JUMP(&image, call + 5);
    begin(&image, 2);
    PUT(&image, "\xc3");
    code_map_add(&image.map, (struct branch){.target = call + 5, .source = start_of(1) + 3});
    find(&image);
    assert_dead(&image, call, REGISTERS_FREE & ~(REGISTER_R8 | REGISTER_R9 | REGISTER_R10));
    assert_dead(&image, jump, REGISTERS_FREE & ~(REGISTER_R8 | REGISTER_R9 | REGISTER_R10));
    image_end(&image);
}

static void a_table_leads_to_each_of_its_targets(void **state)
{
    uint32_t distances[2];
    struct image image;
    uint64_t call, jump, one, two;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    call = CALL(&image, start_of(1));
    jump = PUT(&image, "\xff\xe0");                    /* jmp rax */
    one = PUT(&image, "\x44\x89\xc2\xc3");             /* mov edx, r8d; ret */
    two = PUT(&image, "\x45\x31\xc9\x44\x89\xd2\xc3"); /* xor r9d, r9d; mov edx, r10d; ret */
    begin(&image, 1);
    PUT(&image, "\x31\xc0\xc3");
    distances[0] = (uint32_t)(one - TABLE);
    distances[1] = (uint32_t)(two - TABLE);
    memcpy(image.table, distances, sizeof(distances));
    image.tables[0] = (struct flow_table){
        .jump = jump, .address = TABLE, .origin = TABLE, .count = 2, .entry_size = 4};
    image.table_count = 1;
    find(&image);
    assert_dead(&image, call,
                REGISTER_RAX | REGISTER_RCX | REGISTER_RDX | REGISTER_R9 | REGISTER_R11);
    assert_dead(&image, jump, 0); /* no site */
    image_end(&image);
}

/* Nothing is known of bytes that could be a call: they may need anything. */
static void code_that_is_not_read_needs_all(void **state)
{
    struct image image;
    uint64_t call, unknown;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    call = CALL(&image, start_of(3));
    PUT(&image, "\xc3");
    begin(&image, 1);
    unknown = CALL(&image, start_of(2));
    PUT(&image, "\xc3");
    begin(&image, 2);
    PUT(&image, "\x06"); /* no instruction */
    CALL(&image, start_of(0));
    image.doubts[2] = FLOW_UNDECODABLE;
    begin(&image, 3);
    PUT(&image, "\x31\xc0\xc3");
    find(&image);
    assert_dead(&image, call, REGISTER_RAX);
    assert_dead(&image, unknown, 0);
    image_end(&image);
}

/* A jump that may lead anywhere: all is alive in front, but r10 and r11 in who calls that. */
static void a_vague_jump_needs_all(void **state)
{
    struct image image;
    uint64_t inner, call;

    (void)state;
    image_begin(&image);
    begin(&image, 0);
    CALL(&image, start_of(1));
    PUT(&image, "\x48\x01\xf0\xff\xe0"); /* add rax, rsi; jmp rax */
    image.doubts[0] = FLOW_UNKNOWN_JUMP;
    begin(&image, 1);
    inner = CALL(&image, start_of(2));
    PUT(&image, "\xc3");
    begin(&image, 2);
    PUT(&image, "\x31\xc0\xc3");
    begin(&image, 3);
    call = CALL(&image, start_of(0));
    PUT(&image, "\xc3");
    find(&image);
    assert_dead(&image, inner, REGISTER_RAX);
    assert_dead(&image, call, REGISTER_RAX | REGISTER_R10 | REGISTER_R11);
    image_end(&image);
}

/* ---- what instructions read and write */

static struct flow_uses uses_of(const char *bytes, size_t size)
{
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return flow_uses_decode(&decoder, (const uint8_t *)bytes, size);
}

#define ASSERT_USES(text, expected_reads, expected_writes)                                         \
    do {                                                                                           \
        struct flow_uses uses = uses_of(text, sizeof(text) - 1);                                   \
        assert_int_equal(uses.reads, expected_reads);                                              \
        assert_int_equal(uses.writes, expected_writes);                                            \
    } while (0)

static void operands_that_are_not_written_count(void **state)
{
    unsigned rax = REGISTER_RAX, rcx = REGISTER_RCX, rdx = REGISTER_RDX, rsi = REGISTER_RSI,
             rdi = REGISTER_RDI;

    (void)state;
    ASSERT_USES("\x0f\x05", REGISTERS_FREE, 0);                /* syscall */
    ASSERT_USES("\xcd\x80", REGISTERS_FREE, 0);                /* int 0x80 */
    ASSERT_USES("\x0f\xa2", rax | rcx, rax | rcx | rdx);       /* cpuid */
    ASSERT_USES("\x48\xf7\xe1", rax | rcx, rax | rdx);         /* mul rcx */
    ASSERT_USES("\x48\xf7\xf1", rax | rcx | rdx, rax | rdx);   /* div rcx */
    ASSERT_USES("\x48\xd3\xe2", rdx | rcx, rdx);               /* shl rdx, cl */
    ASSERT_USES("\xf3\x48\xa5", rcx | rsi | rdi, 0);           /* rep movsq */
    ASSERT_USES("\xf3\xaa", rax | rcx | rdi, 0);               /* rep stosb */
    ASSERT_USES("\xe2\xfe", rcx, rcx);                         /* loop */
    ASSERT_USES("\x48\x0f\xb1\x0f", rax | rcx | rdi, 0);       /* cmpxchg [rdi], rcx */
    ASSERT_USES("\x0f\x44\xc1", rcx, 0);                       /* cmovz eax, ecx: may leave it */
    ASSERT_USES("\x0f\xbc\xc1", rcx, 0);                       /* bsf eax, ecx: may leave it */
    ASSERT_USES("\x66\x0f\x3a\x61\xc1\x00", rax | rdx, rcx);   /* pcmpestri */
    ASSERT_USES("\x66\x0f\xd7\xc1", 0, rax);                   /* pmovmskb eax, xmm1 */
    ASSERT_USES("\xc4\xe2\xf3\xf6\xc7", rdx | rdi, rax | rcx); /* mulx rax, rcx, rdi */
    ASSERT_USES("\x0f\x94\xc0", 0, 0);                         /* setz al */
    ASSERT_USES("\xf3\x0f\x1e\xfa", 0, 0);                     /* endbr64 */
    ASSERT_USES("\x0f\x31", REGISTERS_FREE, 0);                /* rdtsc: of the system */
    ASSERT_USES("\x41\xff\x53\x08", REGISTER_R11, 0);          /* call [r11 + 8] */
    ASSERT_USES("\x06", REGISTERS_FREE, 0);                    /* none */
}

/* Reads no less, and writes no more, than the full decoder says; but what is cleared is not read.
 */
static void assert_alike(const uint8_t *bytes)
{
    struct flow_uses plain, full;
    size_t length = plain_length(bytes, 0);

    if (!length || !flow_uses_plain(bytes, &plain))
        return;
    full = uses_of((const char *)bytes, length);
    if (bytes[length - 1] == INT3 && full.reads == REGISTERS_FREE)
        return;
    if (full.reads & ~plain.reads && full.reads != plain.writes)
        fail_msg("%02x %02x %02x %02x %02x reads %x, not %x", bytes[0], bytes[1], bytes[2],
                 bytes[3], bytes[4], full.reads, plain.reads);
    if (plain.writes & ~full.writes)
        fail_msg("%02x %02x %02x %02x %02x writes %x, not %x", bytes[0], bytes[1], bytes[2],
                 bytes[3], bytes[4], full.writes, plain.writes);
}

static void plain_instructions_are_as_the_decoder_has_them(void **state)
{
    static const uint8_t prefixes[] = {0, 0x66, 0xf3},
                         rexes[] = {0, 0x40, 0x41, 0x42, 0x44, 0x48, 0x4f};

    (void)state;
    for (size_t prefix = 0; prefix < sizeof(prefixes); prefix++)
        for (size_t rex = 0; rex < sizeof(rexes); rex++)
            for (unsigned opcode = 0; opcode < 512; opcode++)
                for (unsigned modrm = 0; modrm < 256; modrm++) {
                    uint8_t bytes[PLAIN_ROOM + 8] = {0}, *at = bytes;

                    if (prefixes[prefix])
                        *at++ = prefixes[prefix];
                    if (rexes[rex])
                        *at++ = rexes[rex];
                    if (opcode >= 256)
                        *at++ = 0x0f;
                    *at++ = (uint8_t)opcode;
                    *at++ = (uint8_t)modrm;
                    *at = (uint8_t)(modrm * 37 + opcode); /* a SIB, or whatever */
                    assert_alike(bytes);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_others_reads_arguments),
        cmocka_unit_test(a_static_chain_is_alive_at_a_call_by_a_pointer),
        cmocka_unit_test(a_descriptor_of_thread_local_storage_keeps_all),
        cmocka_unit_test(a_callee_tells_what_it_reads),
        cmocka_unit_test(what_a_caller_needs_is_alive_in_its_callee),
        cmocka_unit_test(needs_go_on_by_jumps_and_imports),
        cmocka_unit_test(a_loop_and_a_fragment_are_followed),
        cmocka_unit_test(a_table_leads_to_each_of_its_targets),
        cmocka_unit_test(code_that_is_not_read_needs_all),
        cmocka_unit_test(a_vague_jump_needs_all),
        cmocka_unit_test(operands_that_are_not_written_count),
        cmocka_unit_test(plain_instructions_are_as_the_decoder_has_them),
    };

    return cmocka_run_group_tests_name("flow_registers", tests, NULL, NULL);
}
