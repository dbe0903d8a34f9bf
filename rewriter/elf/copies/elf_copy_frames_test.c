/* Unwind information of copies: what of it can be carried over, and what becomes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/copies/elf_copy_frames.h"
#include "rewriter/elf/copies/elf_copy_frames_can.h"
#include "rewriter/elf/unwind/lsda.h"

#include <cmocka.h>

/*
 * An image of two functions, whose copies are three times as long: each instruction has one byte,
 * but for a word of two at 0x20.
 */
#define FIRST  0x1000u
#define SECOND 0x1040u
#define END    0x1080u
#define LSDA   0x2000u /* whatever a test puts there */
#define FRAMES 0x3000u /* .eh_frame */
#define COPIES 0x8000u
#define SLOW   0x8800u /* slow paths of calls */
#define TABLES 0x9000u
#define LONGER 3u

#define INSTRUCTIONS 0x40u

static const struct cie plain_cie = {
    .offset = 0x10,
    .code_factor = 1,
    .data_factor = -8,
    .return_register = 16,
    .pointer_encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
    .lsda_encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
    .has_augmentation_data = true,
    .is_understood = true,
    .program = {(const uint8_t *)"\x0c\x07\x08\x90\x01", 5},
};

struct sample {
    uint8_t code[END - FIRST];
    struct code_range range;
    Elf64_Phdr segments[2];
    uint32_t load;
    struct elf_image image;
    struct cie cie;
    struct fde fdes[3];
    uint64_t lsdas[2];
    struct function functions[2];
    struct elf_code elf;
    struct copy items[2];
    struct copy_move moves[2 * INSTRUCTIONS + 2];
    struct copy_set copies;
    struct elf_copy_frames frames;
    struct buffer tables;
    struct elf_frame_entry entries[4];
};

static void copies_make(struct sample *sample)
{
    size_t count = 0;

    for (uint32_t i = 0; i < 2; i++) {
        sample->items[i] = (struct copy){.address = COPIES + i * LONGER * INSTRUCTIONS,
                                         .size = LONGER * INSTRUCTIONS,
                                         .function = i,
                                         .first_move = count,
                                         .move_count = INSTRUCTIONS};
        for (uint32_t from = 0; from <= INSTRUCTIONS; from++)
            if (from != 0x21)
                sample->moves[count++] = (struct copy_move){from, LONGER * from};
    }
    sample->copies = (struct copy_set){
        .items = sample->items, .count = 2, .moves = sample->moves, .move_count = count};
}

static int sample_begin(void **state)
{
    struct sample *sample = calloc(1, sizeof(*sample));

    memset(sample->code, 0x90, sizeof(sample->code));
    sample->code[0x20] = sample->code[INSTRUCTIONS + 0x20] = 0x66;
    sample->range = (struct code_range){FIRST, sample->code, sizeof(sample->code)};
    sample->segments[0].p_type = PT_LOAD;
    sample->segments[1].p_type = PT_GNU_EH_FRAME;
    sample->image = (struct elf_image){.segments = sample->segments,
                                       .class = &elf_class_x86_64,
                                       .segment_count = 2,
                                       .loads = &sample->load,
                                       .load_count = 1,
                                       .end = 0x4000};
    sample->image.header.e_type = ET_DYN;
    sample->cie = plain_cie;
    sample->functions[0] = (struct function){.address = FIRST, .end = SECOND};
    sample->functions[1] = (struct function){.address = SECOND, .end = END};
    sample->elf.code =
        (struct code){.processor = &processor_x86_64, .ranges = &sample->range, .range_count = 1};
    sample->elf.functions = (struct function_list){.items = sample->functions, .count = 2};
    sample->elf.frame = (struct eh_frame){.address = FRAMES,
                                          .cies = &sample->cie,
                                          .cie_count = 1,
                                          .fdes = sample->fdes,
                                          .lsdas = sample->lsdas};
    copies_make(sample);
    *state = sample;
    return 0;
}

static int sample_end(void **state)
{
    struct sample *sample = *state;

    elf_copy_frames_free(&sample->frames);
    free(sample->image.bytes);
    free(sample->tables.bytes);
    free(sample);
    return 0;
}

static void add(struct sample *sample, uint64_t address, uint64_t size, const char *program,
                size_t program_size)
{
    sample->fdes[sample->elf.frame.fde_count++] = (struct fde){
        .address = address, .size = size, .program = {(const uint8_t *)program, program_size}};
}

#define ADD(sample, address, size, text) add(sample, address, size, text, sizeof(text) - 1)

/* The last one has language-specific data. */
static void add_lsda(struct sample *sample, const char *bytes, size_t size)
{
    sample->image.bytes = malloc(size);
    memcpy(sample->image.bytes, bytes, size);
    sample->segments[0].p_vaddr = LSDA;
    sample->segments[0].p_filesz = size;
    sample->fdes[sample->elf.frame.fde_count - 1].lsda = LSDA;
    sample->lsdas[sample->elf.frame.lsda_count++] = LSDA;
}

#define ADD_LSDA(sample, text) add_lsda(sample, text, sizeof(text) - 1)

static bool can(const struct sample *sample, size_t function)
{
    return elf_copy_frames_can(&sample->elf, &sample->image, &sample->functions[function]);
}

static void build(struct sample *sample, size_t expected)
{
    sample->frames = (struct elf_copy_frames){
        .elf = &sample->elf, .image = &sample->image, .copies = &sample->copies};
    assert_true(elf_copy_frames_append_lsdas(&sample->frames, &sample->tables, TABLES));
    assert_int_equal(sample->frames.count, expected);
    elf_copy_frames_append(&sample->frames, &sample->tables, TABLES, sample->entries);
}

/* Reads what was built, as an unwinder does that has looked it up in the index. */
static struct fde built(const struct sample *sample, size_t place)
{
    const struct elf_frame_entry *entry = &sample->entries[place];
    const uint8_t *start = sample->tables.bytes + (entry->location - TABLES);
    struct dwarf_reader reader = {start, sample->tables.bytes + sample->tables.size, false};
    uint64_t size = dwarf_fixed(&reader, 4);
    struct fde fde = {.location = entry->location};

    reader.end = reader.at + size;
    assert_int_equal(entry->location + 4 - dwarf_fixed(&reader, 4), FRAMES + plain_cie.offset);
    fde.address = dwarf_pointer(&reader, plain_cie.pointer_encoding, entry->location + 8);
    fde.size = dwarf_fixed(&reader, 4);
    assert_int_equal(fde.address, entry->address);
    assert_int_equal(dwarf_uleb(&reader), 4);
    fde.lsda = (uint64_t)(int32_t)dwarf_fixed(&reader, 4);
    if (fde.lsda)
        fde.lsda += entry->location + 17;
    assert_false(reader.is_short);
    fde.program = (struct cfi_program){reader.at, (size_t)(reader.end - reader.at)};
    return fde;
}

static void assert_cfa(const struct sample *sample, size_t place, uint64_t address, int64_t cfa)
{
    struct fde fde = built(sample, place);
    struct cfi_cursor cursor;

    cfi_begin(&cursor, &sample->elf.frame, &fde);
    cfi_seek(&cursor, address);
    assert_false(cursor.is_malformed);
    assert_int_equal(cursor.row.cfa_offset, cfa);
}

static void test_rows_begin_where_instructions_went(void **state)
{
    struct sample *sample = *state;

    /* 16 from 1 on; from 5 on 24; remember; from 0x22 on 8; from 0x23 on 24 again */
    ADD(sample, FIRST, INSTRUCTIONS, "\x41\x0e\x10\x44\x0e\x18\x0a\x5d\x0e\x08\x41\x0b");
    assert_true(can(sample, 0));
    build(sample, 1);
    assert_int_equal(built(sample, 0).address, COPIES);
    assert_int_equal(built(sample, 0).size, LONGER * INSTRUCTIONS);
    assert_cfa(sample, 0, COPIES, 8);
    assert_cfa(sample, 0, COPIES + 2, 8);
    assert_cfa(sample, 0, COPIES + 3, 16);
    assert_cfa(sample, 0, COPIES + 14, 16);
    assert_cfa(sample, 0, COPIES + 15, 24);
    assert_cfa(sample, 0, COPIES + 3 * 0x22, 8);
    assert_cfa(sample, 0, COPIES + 3 * 0x23, 24);
}

static void test_an_fde_may_cover_two_functions(void **state)
{
    struct sample *sample = *state;

    /* 16 from 8 on; 24 from the second's 8 on */
    ADD(sample, FIRST, 2 * INSTRUCTIONS, "\x48\x0e\x10\x02\x40\x0e\x18");
    assert_true(can(sample, 0));
    assert_true(can(sample, 1));
    build(sample, 2);
    assert_cfa(sample, 0, COPIES + LONGER * INSTRUCTIONS - 1, 16);
    assert_int_equal(built(sample, 1).address, COPIES + LONGER * INSTRUCTIONS);
    assert_cfa(sample, 1, COPIES + LONGER * INSTRUCTIONS, 16);
    assert_cfa(sample, 1, COPIES + LONGER * (INSTRUCTIONS + 8), 24);
}

static void test_a_function_may_have_two_fdes_and_bytes_without(void **state)
{
    struct sample *sample = *state;

    ADD(sample, FIRST, 0x10, "");
    ADD(sample, FIRST + 0x18, 0x10, "\x0e\x20");
    assert_true(can(sample, 0));
    build(sample, 2);
    assert_int_equal(built(sample, 0).size, LONGER * 0x10);
    assert_int_equal(built(sample, 1).address, COPIES + LONGER * 0x18);
    assert_int_equal(built(sample, 1).size, LONGER * 0x10);
    assert_cfa(sample, 1, COPIES + LONGER * 0x18, 32);
}

/* A row that begins between two calls begins where the slow path of the second does. */
static void test_slow_paths_have_the_rows_of_their_calls(void **state)
{
    struct sample *sample = *state;
    struct copy_move moves[] = {{0x10, 0}, {0x18, 0x20}};
    struct copy slow = {.address = SLOW, .size = 0x40, .move_count = 2, .is_slow = true};

    memcpy(sample->moves + sample->copies.move_count, moves, sizeof(moves));
    slow.first_move = sample->copies.move_count;
    sample->copies.slow = &slow;
    sample->copies.slow_count = 1;
    /* at 1: offset 16; at 0x12: offset 32; at 0x30: offset 8 */
    ADD(sample, FIRST, INSTRUCTIONS, "\x41\x0e\x10\x51\x0e\x20\x5e\x0e\x08");
    assert_true(can(sample, 0));
    build(sample, 2);
    assert_int_equal(built(sample, 1).address, SLOW);
    assert_int_equal(built(sample, 1).size, 0x40);
    assert_cfa(sample, 1, SLOW, 16);
    assert_cfa(sample, 1, SLOW + 0x1f, 16);
    assert_cfa(sample, 1, SLOW + 0x20, 32);
    assert_cfa(sample, 1, SLOW + 0x3f, 32);
}

static void test_a_function_may_have_none(void **state)
{
    struct sample *sample = *state;

    assert_true(can(sample, 0));
    build(sample, 0);
    sample->elf.frame.is_incomplete = true; /* or it has, and we know nothing of it */
    assert_false(can(sample, 0));
}

/* Reads the data that was built for the first copy. */
static void read_built_lsda(struct sample *sample, struct lsda *lsda)
{
    static Elf64_Phdr segment;
    static uint32_t load;
    static uint64_t address;
    struct elf_image image = {.bytes = sample->tables.bytes,
                              .class = &elf_class_x86_64,
                              .segments = &segment,
                              .segment_count = 1,
                              .loads = &load,
                              .load_count = 1};
    struct eh_frame frame = {.lsdas = &address, .lsda_count = 1};
    struct fde fde = built(sample, 0);

    segment.p_vaddr = TABLES;
    segment.p_filesz = sample->tables.size;
    address = fde.lsda;
    assert_true(lsda_read(lsda, &image, &frame, &fde));
}

static void assert_site(struct lsda *lsda, uint64_t start, uint64_t end, uint64_t pad,
                        uint64_t action)
{
    struct lsda_site site;

    assert_true(lsda_next(lsda, &site));
    assert_int_equal(site.start, start);
    assert_int_equal(site.end, end);
    assert_int_equal(site.pad, pad);
    assert_int_equal(site.action, action);
}

static void test_call_sites_are_those_of_the_copy(void **state)
{
    struct sample *sample = *state;
    struct lsda lsda;

    ADD(sample, FIRST, INSTRUCTIONS, "");
    ADD_LSDA(sample, "\xff\x9b\x30\x01\x08"
                     "\x10\x05\x30\x03"
                     "\x20\x20\x00\x00"
                     "\x01\x00\x02\x7d");
    assert_true(can(sample, 0));
    build(sample, 1);
    read_built_lsda(sample, &lsda);
    assert_int_equal(lsda.types, LSDA + 3 + 0x30);
    assert_int_equal(lsda.type_encoding, 0x9b);
    assert_int_equal(lsda.actions.size, 4);
    assert_memory_equal(lsda.actions.bytes, "\x01\x00\x02\x7d", 4);
    assert_int_equal(lsda.pads, lsda.start);
    assert_site(&lsda, COPIES + LONGER * 0x10, COPIES + LONGER * 0x15, COPIES + LONGER * 0x30, 3);
    assert_site(&lsda, COPIES + LONGER * 0x20, COPIES + LONGER * 0x40, 0, 0);
}

static void test_pads_elsewhere(void **state)
{
    struct sample *sample = *state;
    struct lsda lsda;

    /* Pads are counted from the function's address - 1: 1 is its first byte. */
    ADD(sample, FIRST, INSTRUCTIONS, "");
    ADD_LSDA(sample, "\x1b\xfe\xef\xff\xff\xff\x01\x08"
                     "\x10\x05\x01\x00"
                     "\x20\x02\x49\x00");
    assert_true(can(sample, 0));
    build(sample, 1);
    read_built_lsda(sample, &lsda);
    assert_site(&lsda, COPIES + LONGER * 0x10, COPIES + LONGER * 0x15, COPIES, 0);
    assert_site(&lsda, COPIES + LONGER * 0x20, COPIES + LONGER * 0x22,
                COPIES + LONGER * (INSTRUCTIONS + 8), 0);
}

static void test_a_pad_that_is_not_copied_stays(void **state)
{
    struct sample *sample = *state;
    struct lsda lsda;

    ADD(sample, FIRST, INSTRUCTIONS, "");
    ADD_LSDA(sample, "\xff\xff\x01\x05\x10\x05\xc8\x00\x00");
    sample->copies.count = 1;
    assert_true(can(sample, 0));
    build(sample, 1);
    read_built_lsda(sample, &lsda);
    assert_site(&lsda, COPIES + LONGER * 0x10, COPIES + LONGER * 0x15, SECOND + 8, 0);
}

/* Programs that say something else at another place, or cannot be read. */
static void test_rows_that_cannot_be_carried_over(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } programs[] = {
#define BYTES(text) {text, sizeof(text) - 1}
        BYTES("\x61\x0e\x10"),                     /* a row in the middle of an instruction */
        BYTES("\x01\x00\x10\x00\x00\x0e\x10"),     /* DW_CFA_set_loc */
        BYTES("\x0e"),                             /* cut off */
        BYTES("\x3f\x01"),                         /* unknown */
        BYTES("\x04\xff\xff\xff\xff\x0e\x10"),     /* leads far out */
        BYTES("\x0f\x02\x80\x00"),                 /* the CFA by the instruction pointer */
        BYTES("\x10\x03\x09\x03\0\0\0\0\0\0\0\0"), /* a register by an address */
        BYTES("\x16\x03\x02\x77\x80"),             /* an expression that is cut off */
        BYTES("\x0f\x03\x2f\xfd\xff"),             /* that jumps back */
    };

    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        struct sample *sample = *state;

        sample->elf.frame.fde_count = 0;
        add(sample, FIRST, INSTRUCTIONS, programs[i].bytes, programs[i].size);
        assert_false(can(sample, 0));
    }
}

static void test_an_aligned_frame_can_be_carried_over(void **state)
{
    struct sample *sample = *state;

    /* CFA: [rbp - 8]; rbx at rbp - 16 */
    ADD(sample, FIRST, INSTRUCTIONS, "\x44\x0f\x03\x76\x78\x06\x10\x03\x02\x76\x70");
    assert_true(can(sample, 0));
}

static void test_rows_far_in_front_of_a_function(void **state)
{
    struct sample *sample = *state;
    static char program[1000];

    add(sample, FIRST, 2 * INSTRUCTIONS, program, sizeof(program));
    assert_true(can(sample, 0));
    assert_false(can(sample, 1));
}

static void test_cies_that_are_refused(void **state)
{
    struct sample *sample = *state;

    ADD(sample, FIRST, INSTRUCTIONS, "");
    assert_true(can(sample, 0));
    sample->cie.is_signal_frame = true;
    assert_false(can(sample, 0));
    sample->cie = plain_cie;
    sample->cie.is_understood = false;
    assert_false(can(sample, 0));
    sample->cie = plain_cie;
    sample->cie.pointer_encoding = DW_EH_PE_absptr;
    assert_false(can(sample, 0));
    sample->cie = plain_cie;
    sample->cie.lsda_encoding = DW_EH_PE_udata4;
    assert_false(can(sample, 0));
    sample->image.header.e_type = ET_EXEC;
    assert_true(can(sample, 0));
    sample->cie = plain_cie;
    sample->cie.code_factor = 4;
    assert_false(can(sample, 0));
    sample->cie = plain_cie;
    sample->cie.program.size = 1;
    assert_false(can(sample, 0));
}

static void test_without_an_index(void **state)
{
    struct sample *sample = *state;

    ADD(sample, FIRST, INSTRUCTIONS, "");
    sample->segments[1].p_type = PT_DYNAMIC; /* a library */
    assert_false(can(sample, 0));
    sample->segments[1].p_type = PT_NULL; /* a static program: its agent brings an index */
    assert_true(can(sample, 0));
}

static void test_functions_that_overlap(void **state)
{
    struct sample *sample = *state;

    ADD(sample, FIRST, INSTRUCTIONS, "");
    sample->functions[0].end = SECOND + 4;
    assert_false(can(sample, 0));
    sample->functions[1].reason = PATCH_INSIDE_FUNCTION;
    assert_true(can(sample, 0));
    assert_false(can(sample, 1));
}

static void test_language_specific_data_that_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } malformed[] = {
        BYTES("\xff\xff\x01\x04\x21\x05\x30\x00"), /* a range from the middle of an instruction */
        BYTES("\xff\xff\x01\x04\x10\x11\x30\x00"), /* into one */
        BYTES("\xff\xff\x01\x04\x10\x05\x21\x00"), /* a pad there */
        BYTES("\xff\xff\x01\x05\x10\x05\x80\x01\x00"), /* in no function */
        BYTES("\xff\xff\x01\x04\x10\x05"),             /* cut off */
#undef BYTES
    };

    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        struct sample *sample = *state;

        sample->elf.frame.fde_count = sample->elf.frame.lsda_count = 0;
        free(sample->image.bytes);
        ADD(sample, FIRST, INSTRUCTIONS, "");
        add_lsda(sample, malformed[i].bytes, malformed[i].size);
        assert_false(can(sample, 0));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_begin, sample_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows_begin_where_instructions_went),
        TEST(test_an_fde_may_cover_two_functions),
        TEST(test_a_function_may_have_two_fdes_and_bytes_without),
        TEST(test_slow_paths_have_the_rows_of_their_calls),
        TEST(test_a_function_may_have_none),
        TEST(test_call_sites_are_those_of_the_copy),
        TEST(test_pads_elsewhere),
        TEST(test_a_pad_that_is_not_copied_stays),
        TEST(test_rows_that_cannot_be_carried_over),
        TEST(test_an_aligned_frame_can_be_carried_over),
        TEST(test_rows_far_in_front_of_a_function),
        TEST(test_cies_that_are_refused),
        TEST(test_without_an_index),
        TEST(test_functions_that_overlap),
        TEST(test_language_specific_data_that_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
