/* The seed images of tests/fuzz: mingw.dll with a COFF symbol table, msvc.dll with exports alone.
   Expected: what objdump -h, -t and -p say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/image_file.h"
#include "grinder/test_traces/pe_sample.h"
#include "image/manifest.h"

#include <cmocka.h>

#define MINGW SEEDS "/mingw.dll"
#define MSVC  SEEDS "/msvc.dll"

static void open_image(struct image_file *image, const char *path)
{
    struct failure failure = {""};

    assert_true(image_file_open(image, path, &failure));
    assert_int_equal(image->format, IMAGE_PE);
}

static void load_symbols(struct symbol_table *symbols, const char *path, uint64_t *base)
{
    struct image_file image;

    *symbols = (struct symbol_table){0};
    open_image(&image, path);
    *base = image.pe.image_base;
    image_file_symbols(&image, "module.dll", symbols);
    symbol_table_sort(symbols);
    image_file_close(&image);
}

static void sections_are_found_by_name(void **state)
{
    struct image_file image;
    uint64_t size = 0;
    uint8_t *bytes;

    (void)state;
    open_image(&image, MSVC);
    bytes = image_file_section(&image, ".text", &size);
    assert_non_null(bytes);
    assert_int_equal(size, 0x114);
    assert_int_equal(bytes[0], 0x48); /* mov rax, rcx */
    free(bytes);
    assert_false(image_file_has_section(&image, ".debug_line"));
    assert_int_equal(image.pe.image_base, 0x180000000);
    image_file_close(&image);
}

static void coff_symbols_name_functions(void **state)
{
    struct symbol_table symbols;
    uint64_t base;

    (void)state;
    load_symbols(&symbols, MINGW, &base);
    assert_string_equal(symbol_table_find(&symbols, base + 0x1000), "_ZL6hiddeni");
    assert_string_equal(symbol_table_find(&symbols, base + 0x1004), "_ZN5outer5innerC1Ei");
    assert_string_equal(symbol_table_find(&symbols, base + 0x1027), "by_name");
    assert_string_equal(symbol_table_find(&symbols, base + 0x1016), "by_ordinal");
    assert_string_equal(symbol_table_find(&symbols, base + 0x10b0), "_Z5twiceIiET_S0_");
    assert_null(symbol_table_find(&symbols, base + 0x1005));
    for (size_t i = 0; i < symbols.count; i++)
        assert_null(strstr(symbols.symbols[i].name, ".text"));
    symbol_table_free(&symbols);
}

static void exports_have_a_name_or_a_number(void **state)
{
    struct symbol_table symbols;
    uint64_t base;

    (void)state;
    load_symbols(&symbols, MSVC, &base);
    assert_int_equal(symbols.count, 2);
    assert_string_equal(symbol_table_find(&symbols, base + 0x1030), "by_name");
    assert_string_equal(symbol_table_find(&symbols, base + 0x1080), "module.dll!ordinal7");
    symbol_table_free(&symbols);
}

static void imports_have_their_library_in_front(void **state)
{
    struct symbol_table symbols;
    int found = 0;
    uint64_t base;

    (void)state;
    load_symbols(&symbols, MINGW, &base);
    for (size_t i = 0; i < symbols.count; i++)
        found += !strcmp(symbols.symbols[i].name, "KERNEL32.dll!Sleep") &&
                 symbols.symbols[i].address == base + 0x4038;
    assert_int_equal(found, 1);
    symbol_table_free(&symbols);
}

static void the_debug_directory_names_the_pdb(void **state)
{
    struct image_file image;
    struct pe_codeview codeview;
    char *path;

    (void)state;
    open_image(&image, MSVC);
    assert_int_equal(pe_codeview_read(&image.pe, &codeview, &path), 0);
    assert_string_equal(path, "msvc.pdb");
    assert_int_equal(codeview.age, 1);
    free(path);
    image_file_close(&image);
    open_image(&image, MINGW);
    assert_int_equal(pe_codeview_read(&image.pe, &codeview, &path), -1);
    assert_null(path);
    image_file_close(&image);
}

static void write_sample(const char *path)
{
    static const uint32_t rvas[] = {0x1000, 0x1030, 0x7ffffff0};
    struct pe_sample sample = pe_sample_make(MSVC, "Z:\\original.dll", rvas, 3);

    pe_sample_write(path, sample.bytes, sample.size);
    free(sample.bytes);
}

static void the_manifest_is_found_by_the_header(void **state)
{
    char path[] = "/tmp/pe_file_test.XXXXXX";
    struct image_file image;
    struct manifest manifest;
    struct failure failure = {""};

    (void)state;
    assert_true(mkstemp(path) >= 0);
    write_sample(path);
    open_image(&image, path);
    assert_true(image_file_manifest(&image, &manifest, &failure));
    assert_int_equal(manifest.function_count, 3);
    assert_int_equal(manifest.functions[1].rva, 0x1030);
    assert_string_equal(manifest_import_name(&manifest, 2), PE_SAMPLE_IMPORT);
    assert_null(manifest_import_name(&manifest, 1));
    assert_string_equal(manifest_original_path(&manifest), "Z:\\original.dll");
    manifest_free(&manifest);
    image_file_close(&image);
    remove(path);
}

static void expect_refused(const void *bytes, size_t size, const char *expected)
{
    char path[] = "/tmp/pe_file_test.XXXXXX";
    struct image_file image;
    struct failure failure = {""};

    assert_true(mkstemp(path) >= 0);
    pe_sample_write(path, bytes, size);
    assert_false(image_file_open(&image, path, &failure));
    assert_string_equal(failure.text, expected);
    remove(path);
}

static void what_is_no_image_for_us_is_refused(void **state)
{
    size_t size;
    uint8_t *bytes = pe_sample_read(MSVC, &size);
    uint32_t at;

    (void)state;
    expect_refused("#!/bin/sh\n", 10, "is neither an ELF nor a PE file");
    expect_refused("M", 1, "is neither an ELF nor a PE file");
    expect_refused("MZ a DOS program", 16, "is not a PE file");
    memcpy(&at, bytes + PE_DOS_LFANEW, sizeof(at));
    expect_refused(bytes, at + 24, "is a PE file with a malformed header");
    expect_refused(bytes, at + 24 + 112 + 128, "is a PE file with malformed sections");
    bytes[at + 4] = 0x4c; /* i386, whose headers are others */
    bytes[at + 5] = 0x01;
    expect_refused(bytes, size, "is a PE file with a malformed header");
    bytes[at + 4] = 0x64; /* arm64 */
    bytes[at + 5] = 0xaa;
    expect_refused(bytes, size, "is a PE file, but not for x86-64 or i386");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_found_by_name),
        cmocka_unit_test(coff_symbols_name_functions),
        cmocka_unit_test(exports_have_a_name_or_a_number),
        cmocka_unit_test(imports_have_their_library_in_front),
        cmocka_unit_test(the_debug_directory_names_the_pdb),
        cmocka_unit_test(the_manifest_is_found_by_the_header),
        cmocka_unit_test(what_is_no_image_for_us_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
