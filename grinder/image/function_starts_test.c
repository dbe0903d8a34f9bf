/*
 * An image of pieces that are put together here:
 *
 *      0       0x40     0xb0       0x1000  0x2000          0x3000    0x3400   0x3800         0x4000
 *      | ehdr  | phdrs  |          | code  | .eh_frame_hdr | .symtab | names  | section hdrs |
 *
 * loaded at BASE, of which the code alone can be executed.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grinder/image/function_starts.h"

#include <cmocka.h>

#define BASE    0x400000u
#define CODE    0x1000u
#define HDR     0x2000u
#define SYMBOLS 0x3000u
#define NAMES   0x3400u
#define HEADERS 0x3800u
#define SIZE    0x4000u

enum { NO_SECTION, EH_FRAME_HDR, SYMTAB, STRTAB, SECTIONS };

struct image {
    _Alignas(8) unsigned char bytes[SIZE];
    Elf64_Ehdr *header;
    Elf64_Shdr *sections;
    Elf64_Sym *symbols;
    unsigned char *frames; /* .eh_frame_hdr */
};

static const char names[] = "\0.eh_frame_hdr\0f\0";
#define NAME_OF_HDR      1
#define NAME_OF_FUNCTION 15

static void make(struct image *image)
{
    Elf64_Phdr *segments;

    memset(image, 0, sizeof(*image));
    image->header = (Elf64_Ehdr *)image->bytes;
    segments = (Elf64_Phdr *)(image->bytes + sizeof(Elf64_Ehdr));
    image->sections = (Elf64_Shdr *)(image->bytes + HEADERS);
    image->symbols = (Elf64_Sym *)(image->bytes + SYMBOLS);
    image->frames = image->bytes + HDR;
    *image->header = (Elf64_Ehdr){
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(Elf64_Ehdr),
        .e_shoff = HEADERS,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = STRTAB,
    };
    segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                               .p_flags = PF_R | PF_X,
                               .p_offset = CODE,
                               .p_vaddr = BASE + CODE,
                               .p_filesz = HDR - CODE,
                               .p_memsz = HDR - CODE,
                               .p_align = 0x1000};
    segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                               .p_flags = PF_R,
                               .p_offset = HDR,
                               .p_vaddr = BASE + HDR,
                               .p_filesz = SYMBOLS - HDR,
                               .p_memsz = SYMBOLS - HDR,
                               .p_align = 0x1000};
    image->sections[EH_FRAME_HDR] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                                 .sh_name = NAME_OF_HDR,
                                                 .sh_addr = BASE + HDR,
                                                 .sh_offset = HDR,
                                                 .sh_size = 12};
    image->sections[SYMTAB] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                           .sh_offset = SYMBOLS,
                                           .sh_link = STRTAB,
                                           .sh_entsize = sizeof(Elf64_Sym)};
    image->sections[STRTAB] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = sizeof(names)};
    memcpy(image->bytes + NAMES, names, sizeof(names));
    memcpy(image->frames, "\1\x1b\3\x3b", 4);
}

static void add_symbol(struct image *image, unsigned char info, uint16_t section, uint64_t address)
{
    Elf64_Shdr *table = &image->sections[SYMTAB];

    image->symbols[table->sh_size / sizeof(Elf64_Sym)] = (Elf64_Sym){
        .st_name = NAME_OF_FUNCTION, .st_info = info, .st_shndx = section, .st_value = address};
    table->sh_size += sizeof(Elf64_Sym);
}

static void say_count(struct image *image, uint32_t count)
{
    memcpy(image->frames + 8, &count, sizeof(count));
}

/* start: from the header. */
static void add_frame(struct image *image, int32_t start)
{
    Elf64_Shdr *section = &image->sections[EH_FRAME_HDR];

    memcpy(image->frames + section->sh_size, &start, sizeof(start));
    section->sh_size += 8;
    say_count(image, (uint32_t)(section->sh_size - 12) / 8);
}

/* Makes a file of 32 bits of it: the same, at the same places. */
static void narrow(struct image *image)
{
    Elf64_Ehdr header = *image->header;
    Elf64_Phdr segments[2];
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[8];
    Elf32_Ehdr *to = (Elf32_Ehdr *)image->bytes;
    Elf32_Phdr *to_segments = (Elf32_Phdr *)(to + 1);
    Elf32_Shdr *to_sections = (Elf32_Shdr *)(image->bytes + HEADERS);
    Elf32_Sym *to_symbols = (Elf32_Sym *)(image->bytes + SYMBOLS);
    size_t count = image->sections[SYMTAB].sh_size / sizeof(*symbols);

    assert_true(count <= sizeof(symbols) / sizeof(*symbols));
    memcpy(segments, image->bytes + sizeof(header), sizeof(segments));
    memcpy(sections, image->sections, sizeof(sections));
    memcpy(symbols, image->symbols, sizeof(symbols));
    *to = (Elf32_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = EM_386,
                       .e_entry = (Elf32_Addr)header.e_entry,
                       .e_phoff = sizeof(*to),
                       .e_shoff = HEADERS,
                       .e_phentsize = sizeof(*to_segments),
                       .e_phnum = header.e_phnum,
                       .e_shentsize = sizeof(*to_sections),
                       .e_shnum = header.e_shnum,
                       .e_shstrndx = header.e_shstrndx};
    for (unsigned i = 0; i < header.e_phnum; i++)
        to_segments[i] = (Elf32_Phdr){.p_type = segments[i].p_type,
                                      .p_flags = segments[i].p_flags,
                                      .p_offset = (Elf32_Off)segments[i].p_offset,
                                      .p_vaddr = (Elf32_Addr)segments[i].p_vaddr,
                                      .p_filesz = (Elf32_Word)segments[i].p_filesz,
                                      .p_memsz = (Elf32_Word)segments[i].p_memsz};
    for (unsigned i = 0; i < SECTIONS; i++)
        to_sections[i] = (Elf32_Shdr){.sh_type = sections[i].sh_type,
                                      .sh_name = sections[i].sh_name,
                                      .sh_addr = (Elf32_Addr)sections[i].sh_addr,
                                      .sh_offset = (Elf32_Off)sections[i].sh_offset,
                                      .sh_size = (Elf32_Word)sections[i].sh_size,
                                      .sh_link = sections[i].sh_link};
    for (size_t i = 0; i < count; i++)
        to_symbols[i] = (Elf32_Sym){.st_name = symbols[i].st_name,
                                    .st_info = symbols[i].st_info,
                                    .st_shndx = symbols[i].st_shndx,
                                    .st_value = (Elf32_Addr)symbols[i].st_value};
    to_sections[SYMTAB].sh_size = (Elf32_Word)(count * sizeof(*to_symbols));
}

/* The starts as text, from the code on; what the image is opened by is gone by then. */
static const char *starts_of(const struct image *image)
{
    static char text[512];
    int memory = memfd_create("image", MFD_CLOEXEC);
    struct loaded_ranges ranges;
    struct image_file file;
    struct manifest manifest;
    struct failure failure = {""};
    char path[64];
    size_t length = 0;

    assert_int_equal(write(memory, image->bytes, SIZE), SIZE);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
    assert_true(image_file_open(&file, path, &failure));
    close(memory);
    strcpy(text, "none");
    if (image_file_ranges(&file, &ranges)) {
        if (function_starts_read(&manifest, &file, &ranges)) {
            assert_int_equal(manifest.head->function_count, manifest.function_count);
            assert_int_equal(manifest.head->preferred_base, ranges.base);
            text[0] = 0;
            for (size_t i = 0; i < manifest.function_count; i++)
                length += (size_t)snprintf(
                    text + length, sizeof(text) - length, "%s%llx", i ? " " : "",
                    (unsigned long long)(ranges.base + manifest.functions[i].rva - BASE - CODE));
            manifest_free(&manifest);
        }
        loaded_ranges_free(&ranges);
    }
    image_file_close(&file);
    return text;
}

static const unsigned char function = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);

static void symbols_and_frames_are_put_together(void **state)
{
    struct image image;

    (void)state;
    make(&image);
    add_symbol(&image, function, 1, BASE + CODE + 0x300);
    add_symbol(&image, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1, BASE + CODE + 0x100);
    add_symbol(&image, ELF64_ST_INFO(STB_WEAK, STT_FUNC), 1, BASE + CODE + 0x100);
    add_frame(&image, (int32_t)(CODE + 0x100 - HDR));
    add_frame(&image, (int32_t)(CODE + 0x200 - HDR));
    image.header->e_entry = BASE + CODE + 0x40;
    assert_string_equal(starts_of(&image), "0 40 100 200 300");
}

static void those_of_32_bits_are_found(void **state)
{
    struct image image;

    (void)state;
    make(&image);
    add_symbol(&image, function, 1, BASE + CODE + 0x300);
    add_symbol(&image, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1, BASE + CODE + 0x10);
    add_symbol(&image, function, 1, BASE + CODE + 0x100);
    add_frame(&image, (int32_t)(CODE + 0x200 - HDR));
    image.header->e_entry = BASE + CODE + 0x40;
    narrow(&image);
    assert_string_equal(starts_of(&image), "0 40 100 200 300");
}

static void what_is_no_function_of_it_is_left_out(void **state)
{
    struct image image;

    (void)state;
    make(&image);
    add_symbol(&image, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1, BASE + CODE + 0x10);
    add_symbol(&image, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 1, BASE + CODE + 0x20);
    add_symbol(&image, function, SHN_UNDEF, BASE + CODE + 0x30);
    add_symbol(&image, function, SHN_ABS, BASE + CODE + 0x40);
    add_symbol(&image, function, 1, BASE + HDR);  /* not to be executed */
    add_symbol(&image, function, 1, BASE - 1);    /* before it */
    add_symbol(&image, function, 1, BASE + SIZE); /* behind it */
    add_symbol(&image, function, 1, UINT64_MAX);
    add_symbol(&image, function, 1, BASE + CODE + (1ull << 32)); /* as if it were within */
    add_frame(&image, INT32_MAX);
    add_frame(&image, INT32_MIN);
    add_frame(&image, 0);
    image.header->e_entry = 1;
    assert_string_equal(starts_of(&image), "0");
}

/* A name that is not in the strings. */
static void symbols_may_have_no_names(void **state)
{
    struct image image;

    (void)state;
    make(&image);
    add_symbol(&image, function, 1, BASE + CODE + 0x10);
    image.symbols[0].st_name = UINT32_MAX;
    assert_string_equal(starts_of(&image), "0");
    image.symbols[0].st_name = NAME_OF_FUNCTION;
    image.sections[SYMTAB].sh_link = 99;
    assert_string_equal(starts_of(&image), "0");
}

static void counts_may_say_anything(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 0x10000000, UINT32_MAX};
    static const char *const starts[] = {"0", "0 10", "0 10 20", "0 10 20", "0 10 20", "0 10 20"};
    struct image image;

    (void)state;
    make(&image);
    add_frame(&image, (int32_t)(CODE + 0x10 - HDR));
    add_frame(&image, (int32_t)(CODE + 0x20 - HDR));
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        say_count(&image, counts[i]);
        assert_string_equal(starts_of(&image), starts[i]);
    }
    image.sections[EH_FRAME_HDR].sh_size -= 1; /* half an entry */
    assert_string_equal(starts_of(&image), "0 10");
    for (uint64_t size = 0; size < 12; size++) {
        image.sections[EH_FRAME_HDR].sh_size = size;
        assert_string_equal(starts_of(&image), "0");
    }
    image.sections[EH_FRAME_HDR].sh_size = UINT64_MAX;
    assert_string_equal(starts_of(&image), "0");
}

static void other_encodings_are_left_alone(void **state)
{
    struct image image;

    (void)state;
    for (int i = 0; i < 4; i++) {
        make(&image);
        add_frame(&image, (int32_t)(CODE + 0x10 - HDR));
        assert_string_equal(starts_of(&image), "0 10");
        image.frames[i] ^= 4;
        assert_string_equal(starts_of(&image), i == 1 ? "0 10" : "0");
    }
}

static void an_image_may_have_no_code(void **state)
{
    struct image image;

    (void)state;
    make(&image);
    add_symbol(&image, function, 1, BASE + CODE);
    ((Elf64_Phdr *)(image.bytes + sizeof(Elf64_Ehdr)))->p_flags = PF_R;
    assert_string_equal(starts_of(&image), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_and_frames_are_put_together),
        cmocka_unit_test(those_of_32_bits_are_found),
        cmocka_unit_test(what_is_no_function_of_it_is_left_out),
        cmocka_unit_test(symbols_may_have_no_names),
        cmocka_unit_test(counts_may_say_anything),
        cmocka_unit_test(other_encodings_are_left_alone),
        cmocka_unit_test(an_image_may_have_no_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
