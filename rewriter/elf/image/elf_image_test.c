/* The reader and all that follows it, on files that were cut off and scribbled over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "image/manifest.h"
#include "rewriter/base/input_file.h"
#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/unwind/lsda.h"
#include "rewriter/patch/patch_plan.h"

#include <cmocka.h>

static const char *seed_path; /* a program: the test itself, or what the command line names */
static struct input_file seed;

static int seed_open(void **state)
{
    struct failure failure;

    (void)state;
    return input_file_open(&seed, seed_path, &failure) ? 0 : -1;
}

static int seed_close(void **state)
{
    (void)state;
    input_file_close(&seed);
    return 0;
}

/* Everything that reads the file; true if it got through to the functions. */
static bool read_all(uint8_t *bytes, size_t size)
{
    struct elf_image image;
    struct elf_code elf;
    struct failure failure;
    struct bounded_file file = bounded_file_of(bytes, size);
    struct manifest manifest;
    size_t pad_count;
    bool is_fit;

    if (!elf_image_read(&image, "file", bytes, size, &failure)) {
        assert_non_null(strstr(failure.text, "file: "));
        return false;
    }
    is_fit = elf_image_require_supported(&image, &failure);
    if (is_fit) {
        elf_code_read(&elf, &image, &(struct elf_code_options){.instrument_imports = true});
        free(lsda_pads(&image, &elf.frame, &pad_count));
        elf_code_free(&elf);
    }
    if (manifest_load(&manifest, &file) == MANIFEST_WHOLE)
        manifest_free(&manifest);
    elf_build_id(&image);
    elf_image_free(&image);
    return is_fit;
}

static void test_a_program_is_read(void **state)
{
    struct elf_image image;
    struct elf_code elf;
    struct failure failure;
    const struct function *function = NULL;

    (void)state;
    assert_true(elf_image_read(&image, seed_path, seed.bytes, seed.size, &failure));
    assert_true(elf_image_require_supported(&image, &failure));
    elf_code_read(&elf, &image, &(struct elf_code_options){.instrument_imports = true});
    for (size_t i = 0; i < elf.functions.count; i++)
        if (elf.functions.items[i].name && strcmp(elf.functions.items[i].name, "main") == 0)
            function = &elf.functions.items[i];
    assert_non_null(function);
    assert_int_equal(function->reason, PATCH_UNDECIDED);
    assert_true(function->evidence & EVIDENCE_UNWIND);
    assert_int_equal(function_list_at(&elf.functions, image.header.e_entry)->reason,
                     PATCH_NO_RETURN_ADDRESS);
    elf_code_free(&elf);
    elf_image_free(&image);
}

static void test_every_short_header_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < 1024; size++) {
        uint8_t *cut = malloc(size ? size : 1);

        memcpy(cut, seed.bytes, size);
        assert_false(read_all(cut, size));
        free(cut);
    }
}

static void test_cut_files_are_survived(void **state)
{
    (void)state;
    for (size_t i = 1; i < 40; i++) {
        size_t size = seed.size * i / 40;
        uint8_t *cut = malloc(size);

        memcpy(cut, seed.bytes, size);
        read_all(cut, size);
        free(cut);
    }
}

static uint32_t next_random(uint32_t *number)
{
    *number ^= *number << 13;
    *number ^= *number >> 17;
    *number ^= *number << 5;
    return *number;
}

/* Headers, dynamic section, unwind information: where a number is most likely to matter. */
static void mutate(uint8_t *bytes, size_t size, uint32_t *random)
{
    static const uint8_t values[] = {0x00, 0xff, 0x7f, 0x80, 0x01, 0x10};
    unsigned count = 1 + next_random(random) % 8;

    while (count--) {
        size_t at = next_random(random) % size;

        if (next_random(random) % 2)
            at %= 1024;
        bytes[at] = values[next_random(random) % sizeof(values)];
    }
}

static void test_mutated_files_are_survived(void **state)
{
    uint32_t random = 2463534242u;
    uint8_t *copy = malloc(seed.size);

    (void)state;
    for (int i = 0; i < 300; i++) {
        memcpy(copy, seed.bytes, seed.size);
        mutate(copy, seed.size, &random);
        read_all(copy, seed.size);
    }
    free(copy);
}

static void refused(const char *bytes, size_t size, const char *word)
{
    struct elf_image image;
    struct failure failure;
    uint8_t copy[sizeof(Elf64_Ehdr)] = {0};

    memcpy(copy, bytes, size);
    assert_false(elf_image_read(&image, "file", copy, size, &failure));
    assert_non_null(strstr(failure.text, word));
}

static void test_what_is_refused_is_named(void **state)
{
    Elf64_Ehdr header;
    char *bytes = (char *)&header;

    (void)state;
    refused("hello", 5, "another kind of file");
    refused("#!/bin/sh", 9, "a script");
    memcpy(&header, seed.bytes, sizeof(header));
    header.e_machine = EM_AARCH64;
    refused(bytes, sizeof(header), "aarch64");
    header.e_machine = EM_X86_64;
    header.e_ident[EI_CLASS] = ELFCLASS32;
    refused(bytes, sizeof(header), "x32");
    header.e_machine = EM_386;
    refused(bytes, sizeof(Elf32_Ehdr) - 1, "truncated");
    header.e_ident[EI_CLASS] = ELFCLASS64;
    refused(bytes, sizeof(header), "i386 with 64-bit addresses");
    memcpy(&header, seed.bytes, sizeof(header));
    header.e_type = ET_REL;
    refused(bytes, sizeof(header), "relocatable object");
    header.e_type = ET_CORE;
    refused(bytes, sizeof(header), "core dump");
}

/* Changes the first program header of a type in a copy of the seed, and reads that. */
static bool read_changed(uint32_t type, void (*change)(Elf64_Phdr *segment))
{
    const struct elf_class *class = elf_class_of(seed.bytes, seed.size);
    uint8_t *copy = malloc(seed.size);
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    bool is_read = false;

    assert_non_null(copy);
    memcpy(copy, seed.bytes, seed.size);
    elf_record_read(class, ELF_HEADER, &header, copy);
    for (size_t i = 0; i < header.e_phnum; i++) {
        uint8_t *at = copy + header.e_phoff + i * elf_record_size(class, ELF_SEGMENT);

        elf_record_read(class, ELF_SEGMENT, &segment, at);
        if (segment.p_type != type)
            continue;
        change(&segment);
        elf_record_write(class, ELF_SEGMENT, &segment, at);
        is_read = read_all(copy, seed.size);
        break;
    }
    free(copy);
    return is_read;
}

static void empty_and_far_away(Elf64_Phdr *segment)
{
    segment->p_filesz = 0;
    segment->p_offset = 0xe000000000000000;
}

/* Found by tests/fuzz: the offset of an empty segment was added to a pointer. */
static void test_an_empty_dynamic_section_is_refused(void **state)
{
    (void)state;
    assert_false(read_changed(PT_DYNAMIC, empty_and_far_away));
}

static void test_too_many_program_headers_are_refused(void **state)
{
    const struct elf_class *class = elf_class_of(seed.bytes, seed.size);
    Elf64_Ehdr header;
    uint8_t bytes[sizeof(header)];

    (void)state;
    elf_record_read(class, ELF_HEADER, &header, seed.bytes);
    header.e_phnum = 2000;
    elf_record_write(class, ELF_HEADER, &header, bytes);
    refused((char *)bytes, elf_record_size(class, ELF_HEADER),
            "expected up to 1024 program headers, found 2000");
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_is_read),
        cmocka_unit_test(test_every_short_header_is_refused),
        cmocka_unit_test(test_cut_files_are_survived),
        cmocka_unit_test(test_mutated_files_are_survived),
        cmocka_unit_test(test_what_is_refused_is_named),
        cmocka_unit_test(test_an_empty_dynamic_section_is_refused),
        cmocka_unit_test(test_too_many_program_headers_are_refused),
    };

    seed_path = count > 1 ? arguments[1] : "/proc/self/exe";
    return cmocka_run_group_tests(tests, seed_open, seed_close);
}
