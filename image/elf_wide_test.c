/*
 * A file of 32 bits, put together here, is read as one of 64 would be:
 *
 *      0       0x34    0x74     0x100          0x200     0x240   0x280
 *      | ehdr  | phdrs |        | section hdrs | symbols | names |
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/elf_file.h"
#include "image/loaded_ranges.h"

#include <cmocka.h>

#define BASE     0x8048000u
#define SECTIONS 0x100u
#define SYMBOLS  0x200u
#define NAMES    0x240u

static const char names[] = "\0.symtab\0.names\0f";

static struct image {
    Elf32_Ehdr header;
    Elf32_Phdr segments[2];
    uint8_t room[SECTIONS - sizeof(Elf32_Ehdr) - 2 * sizeof(Elf32_Phdr)];
    Elf32_Shdr sections[3];
    uint8_t more_room[SYMBOLS - SECTIONS - 3 * sizeof(Elf32_Shdr)];
    Elf32_Sym symbols[2];
    uint8_t yet_more[NAMES - SYMBOLS - 2 * sizeof(Elf32_Sym)];
    char names[0x40];
} image;

static int make(void **state)
{
    (void)state;
    image = (struct image){
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_386,
                   .e_entry = BASE + 0x40,
                   .e_phoff = offsetof(struct image, segments),
                   .e_shoff = SECTIONS,
                   .e_phentsize = sizeof(Elf32_Phdr),
                   .e_phnum = 2,
                   .e_shentsize = sizeof(Elf32_Shdr),
                   .e_shnum = 3,
                   .e_shstrndx = 2},
        .segments = {{.p_type = PT_LOAD,
                      .p_vaddr = BASE,
                      .p_filesz = 0x100,
                      .p_memsz = 0x100,
                      .p_flags = PF_R | PF_X},
                     {.p_type = PT_LOAD,
                      .p_offset = 0x200,
                      .p_vaddr = BASE + 0x1200,
                      .p_filesz = 0x80,
                      .p_memsz = 0x1000,
                      .p_flags = PF_R | PF_W}},
        .sections =
            {{.sh_type = SHT_NULL},
             {.sh_name = 1,
              .sh_type = SHT_SYMTAB,
              .sh_offset = SYMBOLS,
              .sh_size = sizeof(image.symbols),
              .sh_link = 2},
             {.sh_name = 9, .sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = sizeof(names)}},
        .symbols = {{0},
                    {.st_name = 16,
                     .st_value = BASE + 0x44,
                     .st_size = 7,
                     .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
                     .st_shndx = 1}},
    };
    memcpy(image.names, names, sizeof(names));
    return 0;
}

static struct bounded_file file_of(size_t size)
{
    return bounded_file_of(&image, size);
}

static void sections_and_symbols_are_found(void **state)
{
    struct failure failure = {""};
    const Elf64_Shdr *section;
    struct elf_file elf;
    uint64_t count;
    Elf64_Sym *symbols;

    (void)state;
    assert_true(elf_open(&elf, file_of(sizeof(image)), &failure));
    assert_int_equal(elf.header.e_machine, EM_386);
    assert_int_equal(elf.header.e_entry, BASE + 0x40);
    assert_int_equal(elf.section_count, 3);
    section = elf_section_named(&elf, ".symtab");
    assert_ptr_equal(section, elf_section_of_type(&elf, SHT_SYMTAB));
    symbols = elf_section_symbols(&elf, section, &count);
    assert_int_equal(count, 2);
    assert_int_equal(symbols[1].st_name, 16);
    assert_int_equal(symbols[1].st_value, BASE + 0x44);
    assert_int_equal(symbols[1].st_size, 7);
    assert_int_equal(symbols[1].st_info, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
    assert_int_equal(symbols[1].st_shndx, 1);
    free(symbols);
    elf_close(&elf);
}

static void what_is_loaded_is_found(void **state)
{
    struct bounded_file file = file_of(sizeof(image));
    struct loaded_ranges ranges;
    uint64_t offset;

    (void)state;
    assert_true(loaded_ranges_read(&ranges, &file));
    assert_int_equal(ranges.machine, EM_386);
    assert_int_equal(ranges.base, BASE);
    assert_int_equal(ranges.end, BASE + 0x2200);
    assert_int_equal(ranges.count, 2);
    assert_true(ranges.items[0].is_executable && !ranges.items[0].is_writable);
    assert_true(ranges.items[1].is_writable && !ranges.items[1].is_executable);
    assert_true(loaded_ranges_find(&ranges, 0x1240, 4, &offset));
    assert_int_equal(offset, 0x240);
    loaded_ranges_free(&ranges);
}

/* Of x32, of another processor, of big endian. */
static void other_files_are_refused(void **state)
{
    struct failure failure = {""};
    struct elf_file elf;

    (void)state;
    image.header.e_machine = EM_X86_64;
    assert_false(elf_open(&elf, file_of(sizeof(image)), &failure));
    assert_string_equal(failure.text, "is not an ELF file for x86-64 or i386");
    image.header.e_machine = EM_ARM;
    assert_false(elf_open(&elf, file_of(sizeof(image)), &failure));
    image.header.e_machine = EM_386;
    image.header.e_ident[EI_DATA] = ELFDATA2MSB;
    assert_false(elf_open(&elf, file_of(sizeof(image)), &failure));
    image.header.e_ident[EI_DATA] = ELFDATA2LSB;
    image.header.e_ident[EI_CLASS] = ELFCLASSNONE;
    assert_false(elf_open(&elf, file_of(sizeof(image)), &failure));
    image.header.e_ident[EI_CLASS] = ELFCLASS64; /* i386 is of no such class */
    assert_false(elf_open(&elf, file_of(sizeof(image)), &failure));
}

static void tables_are_within_the_file(void **state)
{
    struct bounded_file whole = file_of(sizeof(image));
    struct failure failure = {""};
    struct loaded_ranges ranges;
    struct elf_file elf;
    uint64_t count;

    (void)state;
    for (size_t size = 0; size <= sizeof(image); size++) {
        struct bounded_file file = file_of(size);
        if (loaded_ranges_read(&ranges, &file)) {
            assert_true(size >= offsetof(struct image, room));
            loaded_ranges_free(&ranges);
        }
        if (elf_open(&elf, file, &failure)) {
            assert_true(size >= sizeof(Elf32_Ehdr));
            assert_int_equal(elf.section_count, size < offsetof(struct image, more_room) ? 0 : 3);
            elf_close(&elf);
        }
    }
    image.header.e_phnum = UINT16_MAX;
    assert_false(loaded_ranges_read(&ranges, &whole));
    image.header.e_phnum = 2;
    image.header.e_phentsize = sizeof(Elf64_Phdr); /* of the other class */
    assert_false(loaded_ranges_read(&ranges, &whole));
    image.header.e_shnum = 0;
    image.sections[0].sh_size = UINT32_MAX;
    image.sections[1].sh_size = UINT32_MAX;
    assert_true(elf_open(&elf, whole, &failure));
    assert_int_equal(elf.section_count, 0);
    elf_close(&elf);
    image.header.e_shnum = 3;
    assert_true(elf_open(&elf, whole, &failure));
    assert_null(elf_section_symbols(&elf, &elf.sections[1], &count));
    elf_close(&elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sections_and_symbols_are_found, make),
        cmocka_unit_test_setup(what_is_loaded_is_found, make),
        cmocka_unit_test_setup(other_files_are_refused, make),
        cmocka_unit_test_setup(tables_are_within_the_file, make),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
