/* Records of both classes, to their wide form and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/image/elf_class.h"

#include <cmocka.h>

/* Every bit of a record counts, so none may be lost on the way there and back. */
static void test_every_bit_comes_back(void **state)
{
    static const struct elf_class *const classes[] = {&elf_class_x86_64, &elf_class_i386};
    uint8_t wide[64], bytes[64], back[64];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 129);
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        for (enum elf_record kind = 0; kind < ELF_RECORDS; kind++) {
            size_t size = elf_record_size(classes[i], kind);

            memset(back, 0, sizeof(back));
            elf_record_read(classes[i], kind, wide, bytes);
            elf_record_write(classes[i], kind, wide, back);
            assert_memory_equal(back, bytes, size);
            for (size_t j = size; j < sizeof(back); j++)
                assert_int_equal(back[j], 0);
        }
    }
}

static void test_a_header_is_widened(void **state)
{
    Elf32_Ehdr narrow = {.e_type = ET_DYN,
                         .e_machine = EM_386,
                         .e_entry = 0xfffff000,
                         .e_phoff = 52,
                         .e_shoff = 0x80000004,
                         .e_phnum = 9,
                         .e_shstrndx = 29};
    Elf64_Ehdr wide;

    (void)state;
    memcpy(narrow.e_ident, ELFMAG, SELFMAG);
    narrow.e_ident[EI_PAD] = 7;
    elf_record_read(&elf_class_i386, ELF_HEADER, &wide, (const uint8_t *)&narrow);
    assert_memory_equal(wide.e_ident, narrow.e_ident, EI_NIDENT);
    assert_int_equal(wide.e_type, ET_DYN);
    assert_int_equal(wide.e_machine, EM_386);
    assert_true(wide.e_entry == 0xfffff000);
    assert_int_equal(wide.e_phoff, 52);
    assert_true(wide.e_shoff == 0x80000004);
    assert_int_equal(wide.e_phnum, 9);
    assert_int_equal(wide.e_shstrndx, 29);
    assert_int_equal(elf_record_field(&elf_class_i386, ELF_HEADER, offsetof(Elf64_Ehdr, e_phnum)),
                     offsetof(Elf32_Ehdr, e_phnum));
    assert_int_equal(elf_record_field(&elf_class_x86_64, ELF_HEADER, offsetof(Elf64_Ehdr, e_phnum)),
                     offsetof(Elf64_Ehdr, e_phnum));
}

/* Fields of these have another order in class 32. */
static void test_segments_and_symbols_are_widened(void **state)
{
    Elf32_Phdr narrow_segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x8048000};
    Elf32_Sym narrow_symbol = {.st_name = 5, .st_info = 0x12, .st_value = 0x1234, .st_size = 9};
    Elf64_Phdr segment;
    Elf64_Sym symbol;

    (void)state;
    elf_record_read(&elf_class_i386, ELF_SEGMENT, &segment, (const uint8_t *)&narrow_segment);
    assert_int_equal(segment.p_type, PT_LOAD);
    assert_int_equal(segment.p_flags, PF_R | PF_X);
    assert_int_equal(segment.p_vaddr, 0x8048000);
    elf_record_read(&elf_class_i386, ELF_SYMBOL, &symbol, (const uint8_t *)&narrow_symbol);
    assert_int_equal(symbol.st_name, 5);
    assert_int_equal(symbol.st_info, 0x12);
    assert_int_equal(symbol.st_value, 0x1234);
    assert_int_equal(symbol.st_size, 9);
}

static void test_relocations_keep_symbol_and_type(void **state)
{
    Elf32_Rel narrow = {.r_offset = 0x4ff4, .r_info = ELF32_R_INFO(0x123456, R_386_GLOB_DAT)};
    uint8_t bytes[sizeof(narrow)];
    Elf64_Rela wide;

    (void)state;
    elf_record_read(&elf_class_i386, ELF_RELOCATION, &wide, (const uint8_t *)&narrow);
    assert_int_equal(wide.r_offset, 0x4ff4);
    assert_int_equal(ELF64_R_SYM(wide.r_info), 0x123456);
    assert_int_equal(ELF64_R_TYPE(wide.r_info), R_386_GLOB_DAT);
    assert_int_equal(wide.r_addend, 0);
    elf_record_write(&elf_class_i386, ELF_RELOCATION, &wide, bytes);
    assert_memory_equal(bytes, &narrow, sizeof(narrow));
}

static void test_words_are_zero_extended(void **state)
{
    uint8_t bytes[] = {0xfe, 0xff, 0xff, 0xff, 1, 2, 3, 4};

    (void)state;
    assert_true(elf_word_read(&elf_class_i386, bytes) == 0xfffffffe);
    assert_true(elf_word_read(&elf_class_x86_64, bytes) == 0x04030201fffffffeull);
    elf_word_write(&elf_class_i386, 0x55aa00001000, bytes);
    assert_memory_equal(bytes, "\0\x10\0\0\1\2\3\4", sizeof(bytes));
}

static const struct elf_class *class_of(uint8_t class, uint8_t data, uint16_t machine, size_t size)
{
    union {
        Elf64_Ehdr header;
        uint8_t bytes[sizeof(Elf64_Ehdr)];
    } file = {.header = {.e_type = ET_DYN, .e_machine = machine}};

    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = class;
    file.header.e_ident[EI_DATA] = data;
    return elf_class_of(file.bytes, size);
}

static void test_only_known_machines_have_a_class(void **state)
{
    (void)state;
    assert_ptr_equal(class_of(ELFCLASS64, ELFDATA2LSB, EM_X86_64, sizeof(Elf64_Ehdr)),
                     &elf_class_x86_64);
    assert_ptr_equal(class_of(ELFCLASS32, ELFDATA2LSB, EM_386, sizeof(Elf32_Ehdr)),
                     &elf_class_i386);
    assert_null(class_of(ELFCLASS32, ELFDATA2LSB, EM_X86_64, sizeof(Elf64_Ehdr)));
    assert_null(class_of(ELFCLASS64, ELFDATA2LSB, EM_386, sizeof(Elf64_Ehdr)));
    assert_null(class_of(ELFCLASS32, ELFDATA2MSB, EM_386, sizeof(Elf32_Ehdr)));
    assert_null(class_of(ELFCLASS32, ELFDATA2LSB, EM_386, sizeof(Elf32_Ehdr) - 1));
    assert_null(class_of(ELFCLASS64, ELFDATA2LSB, EM_X86_64, sizeof(Elf64_Ehdr) - 1));
    assert_null(class_of(ELFCLASS64, ELFDATA2LSB, EM_AARCH64, sizeof(Elf64_Ehdr)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit_comes_back),
        cmocka_unit_test(test_a_header_is_widened),
        cmocka_unit_test(test_segments_and_symbols_are_widened),
        cmocka_unit_test(test_relocations_keep_symbol_and_type),
        cmocka_unit_test(test_words_are_zero_extended),
        cmocka_unit_test(test_only_known_machines_have_a_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
