/* Rows of call frame information, from the instructions compilers write. */
#include <setjmp.h>
#include <stdarg.h>

#include "rewriter/elf/unwind/cfi.h"
#include "rewriter/elf/unwind/eh_frame.h"

#include <cmocka.h>

#define CFI_RSP 7u
#define CFI_RBP 6u

#define START 0x1000u

/* The CIE that gcc and clang write: def_cfa rsp + 8; r16 at CFA - 8. */
static struct cie cie = {
    .code_factor = 1,
    .data_factor = -8,
    .return_register = 16,
    .program = {(const uint8_t *)"\x0c\x07\x08\x90\x01", 5},
};

static struct cfi_cursor begin(const char *program, size_t size)
{
    struct fde fde = {.address = START, .size = 0x100, .program = {(const uint8_t *)program, size}};
    struct eh_frame frame = {.cies = &cie, .cie_count = 1, .fdes = &fde, .fde_count = 1};
    struct cfi_cursor cursor;

    cfi_begin(&cursor, &frame, &fde);
    return cursor;
}

#define BEGIN(text) begin(text, sizeof(text) - 1)

static void assert_row(struct cfi_cursor *cursor, uint64_t offset, unsigned reg, int64_t cfa)
{
    cfi_seek(cursor, START + offset);
    assert_int_equal(cursor->row.cfa_register, reg);
    assert_int_equal(cursor->row.cfa_offset, cfa);
}

static void test_entry_of_a_function(void **state)
{
    struct cfi_cursor cursor = BEGIN("");

    (void)state;
    assert_row(&cursor, 0, CFI_RSP, 8);
    assert_int_equal(cursor.row.return_rule, CFI_RETURN_AT_OFFSET);
    assert_int_equal(cursor.row.return_offset, -8);
    assert_true(cursor.next == UINT64_MAX);
}

static void test_frame_pointer_comes_and_goes(void **state)
{
    /* push rbp: advance 1, offset 16, rbp at -16; mov rbp, rsp: advance 3, register rbp; then
     * remember, advance 16: def_cfa rsp 8; advance 1: restore */
    struct cfi_cursor cursor =
        BEGIN("\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x50\x0c\x07\x08\x41\x0b");

    (void)state;
    assert_row(&cursor, 0, CFI_RSP, 8);
    assert_row(&cursor, 1, CFI_RSP, 16);
    assert_row(&cursor, 3, CFI_RSP, 16);
    assert_row(&cursor, 4, CFI_RBP, 16);
    assert_row(&cursor, 20, CFI_RSP, 8);
    assert_row(&cursor, 21, CFI_RBP, 16);
}

static void test_seeking_passes_over_rows(void **state)
{
    /* advance_loc1 4: 24; advance_loc2 0x20: 32; advance_loc4 0x10: 40 */
    struct cfi_cursor cursor =
        BEGIN("\x02\x04\x0e\x18\x03\x20\x00\x0e\x20\x04\x10\x00\x00\x00\x0e\x28");

    (void)state;
    assert_row(&cursor, 0x80, CFI_RSP, 40);
}

static void test_undefined_return_address(void **state)
{
    struct cfi_cursor cursor = BEGIN("\x07\x10");

    (void)state;
    assert_int_equal(cursor.row.return_rule, CFI_RETURN_UNDEFINED);
}

static void test_fragment_begins_with_a_frame(void **state)
{
    struct cfi_cursor cursor = BEGIN("\x0e\x40\x86\x02");

    (void)state;
    assert_row(&cursor, 0, CFI_RSP, 64);
}

static void test_expression_hides_the_cfa(void **state)
{
    struct cfi_cursor cursor = BEGIN("\x0f\x03\x77\x08\x06\x41\x0c\x07\x08");

    (void)state;
    assert_row(&cursor, 0, CFI_NO_REG, 0);
    assert_row(&cursor, 1, CFI_RSP, 8);
}

static void test_malformed_programs_say_so(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } programs[] = {
        {"\x0e", 1},         {"\x0b", 1},
        {"\x3f", 1},         {"\x0c\x07", 2},
        {"\x0f\x7f\x01", 3}, {"\x80\xff", 2},
        {"\x04\x01", 2},     {"\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a", 9},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        struct cfi_cursor cursor = begin(programs[i].bytes, programs[i].size);

        assert_true(cursor.is_malformed);
        assert_int_equal(cursor.row.cfa_register, CFI_NO_REG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entry_of_a_function),
        cmocka_unit_test(test_frame_pointer_comes_and_goes),
        cmocka_unit_test(test_seeking_passes_over_rows),
        cmocka_unit_test(test_undefined_return_address),
        cmocka_unit_test(test_fragment_begins_with_a_frame),
        cmocka_unit_test(test_expression_hides_the_cfa),
        cmocka_unit_test(test_malformed_programs_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
