/* Headers of PE32 are read as those of PE32+ would be, and written as they were. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "image/loaded_ranges.h"
#include "image/pe_headers.h"
#include "image/pe_wide.h"

#include <cmocka.h>

#define NT   0x80u
#define BASE 0x400000u

static struct file {
    uint8_t dos[NT];
    uint32_t signature;
    struct pe_file_header header;
    struct pe_optional_header_32 optional;
    struct pe_directory directories[PE_DIRECTORIES];
    struct pe_section section;
} file;

static int make(void **state)
{
    uint32_t nt = NT;

    (void)state;
    file = (struct file){
        .dos = "MZ",
        .signature = PE_SIGNATURE,
        .header = {.machine = PE_MACHINE_I386,
                   .section_count = 1,
                   .optional_header_size = sizeof(file.optional) + sizeof(file.directories)},
        .optional = {.magic = PE_MAGIC_32,
                     .entry = 0x1010,
                     .base_of_data = 0x2000,
                     .image_base = BASE,
                     .section_alignment = 0x1000,
                     .file_alignment = 0x200,
                     .size_of_image = 0x2000,
                     .checksum = 7,
                     .subsystem = PE_SUBSYSTEM_CUI,
                     .dll_characteristics = PE_DYNAMIC_BASE,
                     .stack_reserve = 1,
                     .stack_commit = 2,
                     .heap_reserve = 3,
                     .heap_commit = 4,
                     .loader_flags = 5,
                     .number_of_directories = PE_DIRECTORIES},
        .section = {.virtual_size = 8,
                    .rva = 0x1000,
                    .raw_size = 8,
                    .raw = NT,
                    .flags = PE_SECTION_EXECUTE},
    };
    memcpy(file.dos + PE_DOS_LFANEW, &nt, sizeof(nt));
    return 0;
}

static void headers_are_widened(void **state)
{
    struct bounded_file bytes = bounded_file_of((uint8_t *)&file, sizeof(file));
    struct pe_headers headers;
    struct failure failure;

    (void)state;
    assert_true(pe_headers_read(&headers, &bytes, &failure));
    assert_int_equal(headers.optional.image_base, BASE);
    assert_int_equal(headers.optional.entry, 0x1010);
    assert_int_equal(headers.optional.dll_characteristics, PE_DYNAMIC_BASE);
    assert_int_equal(headers.optional.stack_reserve, 1);
    assert_int_equal(headers.optional.heap_commit, 4);
    assert_int_equal(headers.optional.number_of_directories, PE_DIRECTORIES);
    assert_int_equal(headers.directories, offsetof(struct file, directories));
    assert_int_equal(headers.sections, offsetof(struct file, section));
}

static void headers_are_written_as_they_were(void **state)
{
    struct pe_optional_header header;
    struct file before = file;

    (void)state;
    pe_optional_read(&header, (uint8_t *)&file.optional);
    header.checksum = 8;
    pe_optional_write((uint8_t *)&file.optional, &header);
    before.optional.checksum = 8;
    assert_memory_equal(&file, &before, sizeof(file));
}

static void a_machine_has_its_own_magic(void **state)
{
    struct bounded_file bytes = bounded_file_of((uint8_t *)&file, sizeof(file));
    struct pe_headers headers;
    struct failure failure;

    (void)state;
    file.header.machine = PE_MACHINE_X86_64;
    assert_false(pe_headers_read(&headers, &bytes, &failure));
    file.header.machine = PE_MACHINE_I386;
    file.optional.magic = PE_MAGIC_64;
    assert_false(pe_headers_read(&headers, &bytes, &failure));
}

static void ranges_are_of_i386(void **state)
{
    struct bounded_file bytes = bounded_file_of((uint8_t *)&file, sizeof(file));
    struct loaded_ranges ranges;

    (void)state;
    assert_true(loaded_ranges_read(&ranges, &bytes));
    assert_true(ranges.is_pe);
    assert_int_equal(ranges.machine, EM_386);
    assert_int_equal(ranges.base, BASE);
    assert_int_equal(ranges.end, BASE + 0x2000);
    assert_true(ranges.items[0].is_executable);
    loaded_ranges_free(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(headers_are_widened, make),
        cmocka_unit_test_setup(headers_are_written_as_they_were, make),
        cmocka_unit_test_setup(a_machine_has_its_own_magic, make),
        cmocka_unit_test_setup(ranges_are_of_i386, make),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
