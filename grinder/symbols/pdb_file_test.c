/* The seed PDB of tests/fuzz. Expected: what llvm-pdbutil dump --publics --symbols -l says of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/symbols.h"
#include "grinder/symbols/lines.h"
#include "grinder/symbols/pdb_file.h"
#include "grinder/test_traces/pe_sample.h"

#include <cmocka.h>

#define PDB  SEEDS "/msvc.pdb"
#define BASE 0x180000000ull

static void open_pdb(struct pdb_file *pdb)
{
    struct failure failure = {""};

    assert_true(pdb_open(pdb, PDB, &failure));
}

static void names_are_the_compiler_s(void **state)
{
    static const struct {
        uint32_t rva;
        const char *name;
    } expected[] = {
        {0x1000, "outer::inner::inner"},
        {0x1010, "outer::inner::method"},
        {0x1020, "outer::inner::operator+"},
        {0x1030, "by_name"},
        {0x1080, "by_ordinal"},
        {0x10a0, "hidden"},
        {0x10b0, "DllMainCRTStartup"},
        {0x1110, "twice<int>"},
    };
    struct symbol_table symbols = {0};
    struct pdb_file pdb;

    (void)state;
    open_pdb(&pdb);
    pdb_symbols_add(&symbols, &pdb, BASE);
    symbol_table_sort(&symbols);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_string_equal(symbol_table_find(&symbols, BASE + expected[i].rva), expected[i].name);
    assert_int_equal(symbols.count, 8 + 7); /* all but the static one are public, too */
    symbol_table_free(&symbols);
    pdb_close(&pdb);
}

static void lines_hold_up_to_the_next_one(void **state)
{
    static const struct {
        uint32_t rva, line;
    } expected[] = {
        {0x1000, 12}, {0x1004, 12}, {0x1005, 13}, {0x1006, 0},  {0x1010, 16},
        {0x1011, 17}, {0x1030, 37}, {0x103d, 37}, {0x103e, 38}, {0x1072, 39},
        {0x1073, 0},  {0x10a0, 28}, {0x10fe, 58}, {0x1110, 33}, {0x2000, 0},
    };
    size_t count = sizeof(expected) / sizeof(*expected);
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct line_table table;
    struct pdb_file pdb;

    (void)state;
    for (size_t i = 0; i < count; i++)
        addresses[i] = BASE + expected[i].rva;
    addresses[count] = BASE + 0x1072; /* twice, as call sites may be */
    line_table_begin(&table, addresses, count + 1);
    open_pdb(&pdb);
    pdb_lines_read(&table, &pdb, BASE);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(line_table_find(&table, BASE + expected[i].rva).line, expected[i].line);
    assert_int_equal(table.file_count, 2);
    assert_string_equal(table.files[1], "/seeds/of/windows/windows.cpp");
    line_table_free(&table);
    pdb_close(&pdb);
}

static void guid_and_age_must_fit(void **state)
{
    struct pe_codeview codeview;
    struct pdb_file pdb;

    (void)state;
    open_pdb(&pdb);
    memcpy(codeview.guid, pdb.info.guid, sizeof(codeview.guid));
    codeview.age = 1;
    assert_true(pdb_belongs_to(&pdb, &codeview));
    codeview.age = 2;
    assert_false(pdb_belongs_to(&pdb, &codeview));
    codeview.age = 1;
    codeview.guid[15] ^= 1;
    assert_false(pdb_belongs_to(&pdb, &codeview));
    pdb_close(&pdb);
}

/* word replaces the one at that offset of the PDB's header. */
static void expect_refused(size_t at, uint32_t word, const char *expected)
{
    char path[] = "/tmp/pdb_file_test.XXXXXX";
    size_t size;
    uint8_t *bytes = pe_sample_read(PDB, &size);
    struct failure failure = {""};
    struct pdb_file pdb;

    memcpy(bytes + at, &word, sizeof(word));
    assert_true(mkstemp(path) >= 0);
    pe_sample_write(path, bytes, size);
    assert_false(pdb_open(&pdb, path, &failure));
    assert_string_equal(failure.text, expected);
    remove(path);
    free(bytes);
}

static void damaged_ones_are_refused(void **state)
{
    (void)state;
    expect_refused(0, 0, "is not a PDB");
    expect_refused(offsetof(struct msf_header, block_size), 0, "is a PDB with a malformed header");
    expect_refused(offsetof(struct msf_header, block_size), 768,
                   "is a PDB with a malformed header");
    expect_refused(offsetof(struct msf_header, directory_size), UINT32_MAX,
                   "is a PDB with a malformed directory");
    expect_refused(offsetof(struct msf_header, block_map), UINT32_MAX,
                   "is a PDB with a malformed directory");
    expect_refused(offsetof(struct msf_header, directory_size), 0,
                   "is a PDB with a malformed directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_the_compiler_s),
        cmocka_unit_test(lines_hold_up_to_the_next_one),
        cmocka_unit_test(guid_and_age_must_fit),
        cmocka_unit_test(damaged_ones_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
