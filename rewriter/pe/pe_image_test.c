/* The reader on hand-made images: what is there, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/pe/pe_code.h"
#include "rewriter/pe/pe_kind.h"
#include "rewriter/pe/pe_sample.h"

#include <cmocka.h>

static struct pe_sample sample;
static struct pe_image image;
static struct failure failure;

static bool reads(void)
{
    return pe_image_read(&image, "sample", sample.bytes, sample.size, &failure);
}

/* Refused by the reader, or for what it is, with a line that holds the words. */
static void assert_refused(const char *words)
{
    bool is_fit = reads();

    if (is_fit) {
        is_fit = pe_image_require_supported(&image, &failure);
        pe_image_free(&image);
    }
    assert_false(is_fit);
    if (!strstr(failure.text, words))
        fail_msg("'%s' does not say '%s'", failure.text, words);
    assert_null(strchr(failure.text, '\n'));
}

static void reads_what_is_there(void **state)
{
    struct pe_table build_id;

    (void)state;
    pe_sample_init(&sample);
    assert_true(reads());
    assert_true(pe_image_require_supported(&image, &failure));
    assert_int_equal(image.section_count, 2);
    assert_int_equal(image.end - image.base, 0x3000);
    assert_ptr_equal(pe_at_rva(&image, 0x1010, 4), sample.bytes + 0x410);
    assert_ptr_equal(pe_at(&image, PE_SAMPLE_BASE + 0x2000, 1), sample.bytes + 0xa00);
    assert_null(pe_at_rva(&image, 0x15fe, 3));
    assert_null(pe_at_rva(&image, 0x1600, 1));
    assert_null(pe_at_rva(&image, 0x400, 1));
    assert_true(pe_is_executable(&image, PE_SAMPLE_BASE + 0x1000));
    assert_false(pe_is_executable(&image, PE_SAMPLE_BASE + 0x2000));
    build_id = pe_build_id(&image);
    assert_int_equal(build_id.count, PE_BUILD_ID_SIZE);
    assert_memory_equal(build_id.bytes, "0123456789abcdef\1\0\0\0", PE_BUILD_ID_SIZE);
    pe_image_free(&image);
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_ORIGINAL);
}

static void reads_what_is_there_of_i386(void **state)
{
    (void)state;
    pe_sample_init_32(&sample);
    assert_true(reads());
    assert_true(pe_image_require_supported(&image, &failure));
    assert_ptr_equal(image.processor, &processor_i386);
    assert_int_equal(image.base, PE_SAMPLE_BASE_32);
    assert_int_equal(image.end - image.base, 0x3000);
    assert_ptr_equal(pe_at_rva(&image, 0x1010, 4), sample.bytes + 0x410);
    assert_int_equal(pe_build_id(&image).count, PE_BUILD_ID_SIZE);
    pe_image_free(&image);
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_ORIGINAL);
    pe_sample_header(&sample)->magic = PE_MAGIC_64;
    assert_refused("expected PE32 (magic 0x10b), found 0x20b");
}

static void refuses_other_machines(void **state)
{
    (void)state;
    pe_sample_init(&sample);
    pe_sample_file(&sample)->machine = 0xaa64;
    assert_refused("arm64; build it for x86-64");
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_MACHINE);
    pe_sample_file(&sample)->machine = 0x1234;
    assert_refused("machine number 0x1234");
}

/* Puts the table of one function, as Go 1.20 and later write it. */
static void put_go_table(uint32_t rva)
{
    const uint64_t table[] = {0x08010000fffffff1, 1, 1, 0, 72, 80, 88, 96, 104, 0, 0, 0, 0};
    const uint32_t functions[] = {0, 12, 64, 0};

    memcpy(pe_sample_at(&sample, rva), table, sizeof(table));
    memcpy(pe_sample_at(&sample, rva + 104), functions, sizeof(functions));
}

static void refuses_what_is_not_for_us(void **state)
{
    (void)state;
    pe_sample_init(&sample);
    pe_sample_directory(&sample, PE_CLR)->rva = PE_SAMPLE_FREE;
    assert_refused("found a .NET program");
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_MACHINE);
    /* Most of them are for any machine, which their headers call i386. */
    pe_sample_init_32(&sample);
    pe_sample_directory(&sample, PE_CLR)->rva = 0x2008;
    assert_refused("found a .NET program");
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_MACHINE);
    pe_sample_init(&sample);
    pe_sample_code(&sample, PE_SAMPLE_TEXT, "\xff Go build ID: \"x\"", 18);
    assert_refused("found a Go program");
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_GO);
    pe_sample_init(&sample);
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE), "\xff Go buildinf:", 14);
    assert_refused("found a Go program");
    pe_sample_init(&sample);
    put_go_table(PE_SAMPLE_FREE);
    assert_true(reads());
    assert_true(pe_image_require_supported(&image, &failure)); /* nothing leads to it */
    pe_image_free(&image);
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0xf0),
           &(uint64_t){PE_SAMPLE_BASE + PE_SAMPLE_FREE}, 8);
    assert_refused("found a Go program");
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_GO);
    pe_sample_init(&sample);
    pe_sample_header(&sample)->subsystem = 1;
    assert_refused("found subsystem 1, such as drivers");
}

static void refuses_what_contradicts_itself(void **state)
{
    (void)state;
    pe_sample_init(&sample);
    sample.size = 0x90;
    assert_refused("truncated");
    pe_sample_init(&sample);
    sample.size = 0x1100;
    assert_refused("section 2 at RVA 0x2000");
    pe_sample_init(&sample);
    pe_sample_header(&sample)->magic = PE_MAGIC_32;
    assert_refused("expected PE32+");
    pe_sample_init(&sample);
    pe_sample_header(&sample)->section_alignment = 512;
    assert_refused("aligned to pages");
    pe_sample_init(&sample);
    pe_sample_header(&sample)->size_of_headers = 0x10000;
    assert_refused("headers of 0x10000 bytes");
    pe_sample_init(&sample);
    pe_sample_file(&sample)->section_count = 97;
    assert_refused("");
    pe_sample_init(&sample);
    pe_sample_file(&sample)->characteristics = 0;
    assert_refused("found an object; link it first");
    memset(sample.bytes + 0x80, 0, 4);
    assert_refused("found an MS-DOS program");
    assert_int_equal(pe_kind(sample.bytes, sample.size), IMAGE_KIND_OTHER);
}

/* push rbx; sub rsp, 32; lea rbp, [rsp + 16] */
static const uint8_t framed[] = {1, 0x0b, 4, 0x15, 11, 3, 6, 0x32, 2, 0x30, 0, 0};

static void unwind_information_tells_the_return_slot(void **state)
{
    struct unwind_info info = {.version = 1,
                               .slot_count = 3,
                               .frame_register = UNWIND_RBP,
                               .frame_offset = 1,
                               .slots = framed + UNWIND_HEAD_SIZE};
    struct return_slot slot = unwind_slot_at(&info, 0);
    uint8_t lowest;

    (void)state;
    assert_int_equal(slot.base, RETURN_SLOT_RSP);
    assert_int_equal(slot.offset, 0);
    assert_int_equal(slot.until, 2);
    slot = unwind_slot_at(&info, 2);
    assert_int_equal(slot.offset, 8);
    assert_int_equal(slot.until, 6);
    slot = unwind_slot_at(&info, 6);
    assert_int_equal(slot.offset, 40);
    slot = unwind_slot_at(&info, 11);
    assert_int_equal(slot.base, RETURN_SLOT_RBP);
    assert_int_equal(slot.offset, 24); /* rbp = rsp + 16 */
    assert_int_equal(unwind_prologue_codes(&info, &lowest), 3);
    assert_int_equal(lowest, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_there),
        cmocka_unit_test(reads_what_is_there_of_i386),
        cmocka_unit_test(refuses_other_machines),
        cmocka_unit_test(refuses_what_is_not_for_us),
        cmocka_unit_test(refuses_what_contradicts_itself),
        cmocka_unit_test(unwind_information_tells_the_return_slot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
